use learning::patterns::{Sample, abilities, found, scores};
use learning::training::{Plan, Training};
fn main() {
    let args: Vec<f64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let steps = args[1] as usize;
    let mut plan = Plan::new(args[0] as u32, steps);
    plan.decay = args[2] as f32;
    plan.rate = args[3] as f32;
    let mut training = Training::new(plan);
    let start = std::time::Instant::now();
    for step in 1..=steps {
        let loss = training.step().unwrap();
        if step % 250 == 0 || step == 50 {
            println!("{step} {loss:.4} {:.1}s", start.elapsed().as_secs_f64());
        }
    }
    let sample = Sample::unseen(1, 64);
    let s = scores(training.model(), &sample).unwrap();
    for ((l, h), s) in s.indexed_iter() {
        println!(
            "{l}.{h}: prev {:.3} ind {:.3} subj {:.3} distr {:.3}",
            s.previous, s.induction, s.subject, s.distractors
        );
    }
    println!("none {:?}", abilities(training.model(), &sample, &[]).unwrap());
    for kind in [
        |s: &learning::patterns::Scores| s.previous,
        |s: &learning::patterns::Scores| s.induction,
        |s: &learning::patterns::Scores| s.subject,
    ] {
        let head = found(&s, kind);
        println!("{head:?} {:?}", abilities(training.model(), &sample, &[head]).unwrap());
    }
    println!("{:.1}s", start.elapsed().as_secs_f64());
}
