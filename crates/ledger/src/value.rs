//! The kinds of value a book can quote, and the Rust types they come from.

use std::fmt::Display;

use ndarray::{Array1, Array2};

use crate::{Figure, Widget};

/// What kind of thing a value is, with the thing itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number: a count, a size. Printed in full.
    Count(i64),
    /// One real number.
    Scalar(f64, Precision),
    /// A row of numbers.
    Vector(Array1<f64>, Precision),
    /// A table of numbers.
    Matrix(Array2<f64>, Precision),
    /// Words or notation put together by code.
    Text(String),
    /// A plot or diagram, as data.
    Figure(Figure),
    /// Something to try out, with the data it starts with.
    Widget(Widget),
    /// A statement that code holds true; the error says why it does not hold.
    Claim(Result<(), String>),
}

impl Value {
    /// The kind's name, as the lock file and messages spell it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Count(_) => "count",
            Value::Scalar(..) => "scalar",
            Value::Vector(..) => "vector",
            Value::Matrix(..) => "matrix",
            Value::Text(_) => "text",
            Value::Figure(_) => "figure",
            Value::Widget(_) => "widget",
            Value::Claim(_) => "claim",
        }
    }

    /// Rows and columns: a vector is one row; what is not a table is 0 × 0.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Value::Vector(row, _) => (1, row.len()),
            Value::Matrix(table, _) => table.dim(),
            _ => (0, 0),
        }
    }

    pub(crate) fn numbers(&self) -> (Vec<f64>, Precision) {
        match self {
            Value::Scalar(number, precision) => (vec![*number], *precision),
            Value::Vector(row, precision) => (row.to_vec(), *precision),
            Value::Matrix(table, precision) => (table.iter().copied().collect(), *precision),
            _ => (Vec::new(), Precision::Double),
        }
    }
}

/// The floating-point type a number was computed in, which decides how close
/// to a rounding boundary it may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `f32`
    Single,
    /// `f64`
    Double,
}

impl Precision {
    /// How far two correct computations of one value may lie apart, relative to
    /// its size: some hundred units in the last place, for sums of exponentials.
    pub(crate) fn relative(self) -> f64 {
        match self {
            Precision::Single => 1e-5,
            Precision::Double => 1e-9,
        }
    }
}

/// A type that a function of the worked examples may return.
///
/// Numbers, whole numbers, one- and two-dimensional arrays, text, figures,
/// widgets, `bool` (a claim), and a `Result` of any of them: its error becomes a
/// [`Fault`](crate::Fault), or the reason why a claim does not hold.
pub trait Quotable {
    /// The value, or why there is none.
    ///
    /// # Errors
    ///
    /// The function's own error, in words.
    fn into_value(self) -> Result<Value, String>;
}

macro_rules! quotable {
    ($($type:ty: $value:ident => $made:expr;)+) => {
        $(impl Quotable for $type {
            fn into_value(self) -> Result<Value, String> {
                let $value = self;
                Ok($made)
            }
        })+
    };
}

quotable! {
    Value: value => value;
    f64: number => Value::Scalar(number, Precision::Double);
    f32: number => Value::Scalar(f64::from(number), Precision::Single);
    u32: count => Value::Count(i64::from(count));
    i32: count => Value::Count(i64::from(count));
    i64: count => Value::Count(count);
    Array1<f64>: row => Value::Vector(row, Precision::Double);
    Array1<f32>: row => Value::Vector(row.mapv(f64::from), Precision::Single);
    Array2<f64>: table => Value::Matrix(table, Precision::Double);
    Array2<f32>: table => Value::Matrix(table.mapv(f64::from), Precision::Single);
    String: text => Value::Text(text);
    &str: text => Value::Text(text.to_owned());
    Figure: figure => Value::Figure(figure);
    Widget: widget => Value::Widget(widget);
    bool: holds => Value::Claim(if holds { Ok(()) } else { Err("it does not hold".to_owned()) });
}

impl Quotable for usize {
    fn into_value(self) -> Result<Value, String> {
        i64::try_from(self).map(Value::Count).map_err(|_| format!("{self} is too large a count"))
    }
}

impl Quotable for u64 {
    fn into_value(self) -> Result<Value, String> {
        i64::try_from(self).map(Value::Count).map_err(|_| format!("{self} is too large a count"))
    }
}

impl<E: Display> Quotable for Result<(), E> {
    fn into_value(self) -> Result<Value, String> {
        Ok(Value::Claim(self.map_err(|error| error.to_string())))
    }
}

macro_rules! quotable_results {
    ($($type:ty),+ $(,)?) => {
        $(impl<E: Display> Quotable for Result<$type, E> {
            fn into_value(self) -> Result<Value, String> {
                self.map_err(|error| error.to_string())?.into_value()
            }
        })+
    };
}

quotable_results!(
    f64,
    f32,
    usize,
    u64,
    u32,
    i64,
    i32,
    Array1<f64>,
    Array1<f32>,
    Array2<f64>,
    Array2<f32>,
    String,
    Figure,
    Widget,
    bool,
);
