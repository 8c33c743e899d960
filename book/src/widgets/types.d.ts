// What the widgets ask the engine, and what it answers: the contract between
// `crates/explorer` (Rust, compiled to head.wasm and models.wasm) and the modules beside this
// file, which have no arithmetic of their own. Types only; nothing is run.

/** Those that can be edited; the target, of shape (1, d_v), only where there is one. */
export type InputName = 'X' | 'W_Q' | 'W_K' | 'W_V' | 'target';

/** The eight that are computed forward, and whose cells have a derivation. */
export type ForwardName = 'Q' | 'K' | 'V' | 'S' | 'scaled' | 'masked' | 'A' | 'O';

/**
 * The loss, of shape (1, 1), and the gradients, in the order in which they are
 * computed: only of a head with a target. Their cells have a derivation too.
 */
export type BackwardName =
  | 'L' | 'dO' | 'dA' | 'dV' | 'dmasked' | 'dscaled' | 'dS' | 'dQ' | 'dK' | 'dW_Q' | 'dW_K' | 'dW_V' | 'dX';

export type ComputedName = ForwardName | BackwardName;

/** A matrix of the head: X and the weights, forward, the target, backward. */
export type MatrixName = InputName | ComputedName;

/** A cell: matrix, row, column, both counted from 0. */
export type Place = [matrix: MatrixName, row: number, column: number];

/**
 * A number of full precision: JSON has no infinities, so those are the strings
 * '∞' and '−∞' (true minus), and 'NaN'.
 */
export type Exact = number | string;

/** A number as it is shown. */
export type Num = {
  /** Rounded, with a true minus: '−1.44', '−∞'; from 100 000 on '1.23·10⁵'. */
  shown: string;
  /** With all of its digits: the text for `data-exact`. */
  exact: Exact;
  /** The cell that this number is, if it is one. */
  from?: Place;
};

// ---------------------------------------------------------------- the head

/** All that a reader can change of a head. Numbers are as typed. */
export type HeadState = {
  /** 1 to 12 names of 1 to 16 characters. */
  tokens: string[];
  /** What the columns of X (rows of W_Q, W_K, W_V) mean: d_model of them, 1 to 8. */
  meanings: string[];
  /** What the columns of Q and K are about: d of them, 1 to 8. */
  matches: string[];
  /** What the columns of V and O say: d_v of them, 1 to 8. */
  messages: string[];
  /** (T, d_model) */
  x: string[][];
  /** (d_model, d) */
  w_q: string[][];
  /** (d_model, d) */
  w_k: string[][];
  /** (d_model, d_v) */
  w_v: string[][];
  /** Whether a token is kept from looking at later ones. */
  mask: boolean;
  /** Whether scores are divided by √d. */
  scale: boolean;
  /**
   * What the last token's output should be: d_v numbers. With it the head is
   * followed backwards from its loss, half the squared distance of the last row
   * of O from the target.
   */
  target?: string[];
};

/** Something typed that is no number (or no name), and where. */
export type Problem = {
  matrix: InputName | 'tokens';
  row: number;
  /** 0 for 'tokens'. */
  column: number;
  /** What is wrong and what to do, as a sentence. */
  sentence: string;
};

export type Family = 'input' | 'query' | 'key' | 'value' | 'score' | 'weight' | 'output';

export type Matrix = {
  name: MatrixName;
  /** Without TeX: 'Q', 'W_Q', 'S/√d'. An underscore stands before a subscript. */
  symbol: string;
  /** One line on what the matrix is. */
  about: string;
  /** '(5, 3)' */
  shape: string;
  /** X is 'input', W_Q and Q are 'query', W_K and K 'key', W_V and V 'value'; a gradient is what it belongs to. */
  family: Family;
  rows: string[];
  columns: string[];
  /** The numbers to be seen, all with the same count of digits. */
  shown: string[][];
  /** Where each number stands between `legend.low` (0) and `legend.high` (1). −∞ is 0. */
  shade: number[][];
  exact: Exact[][];
  legend: {
    /** The number that has shade 0, as shown: never above 0. */
    low: string;
    /** The number that has shade 1, as shown: never below 0. */
    high: string;
    /** The shade of the number 0. */
    zero: number;
  };
  /**
   * Of S, scaled, masked and A, and of their gradients: how many keys are open to each query. The cells
   * `column >= open[row]` are closed.
   */
  open?: number[];
};

/** With problems there are no matrices: go on showing the last, marked as stale. */
export type HeadAnswer = { matrices: Matrix[]; problems: Problem[] };

/** One term of a dot product. */
export type Product = {
  /** What the term is about: a meaning, a match, or a token. */
  label: string;
  left: Num;
  right: Num;
  /** left · right */
  product: Num;
};

/** One term of a loss. */
export type Square = {
  /** What a value says. */
  label: string;
  left: Num;
  right: Num;
  /** left − right */
  difference: Num;
  /** difference² */
  square: Num;
};

/** One score of a row on its way through softmax. */
export type Exponential = {
  /** The token whose key it is. */
  label: string;
  score: Num;
  /** score − largest; '−∞' where closed. */
  difference: Num;
  /** exp(difference); 0 where closed. */
  exponential: Num;
  closed: boolean;
  /** Whether this is the cell asked about. */
  current: boolean;
};

export type Line =
  /** left·right + left·right + … = sum; `name` is what the sum is called, if it has a name. */
  | { kind: 'products'; name?: string; terms: Product[]; sum: Num }
  /** score × factor = result, where factor = 1/√size and root = √size */
  | { kind: 'scaled'; score: Num; factor: Num; root: Num; size: number; result: Num }
  /** The score stays as it is, as a switch is off; the sentence says which. */
  | { kind: 'same'; score: Num; result: Num; sentence: string }
  /** open: the score stays; else it becomes −∞. The sentence says why. */
  | { kind: 'mask'; open: boolean; score: Num; result: Num; sentence: string }
  /** The largest of a row's open scores. `labels[i]` is the token of `numbers[i]`. */
  | { kind: 'largest'; labels: string[]; numbers: Num[]; result: Num }
  | { kind: 'exponentials'; largest: Num; terms: Exponential[] }
  /** term + term + … = sum. `labels[i]` is the token of `terms[i]`; without a `name`, they are exponentials. */
  | { kind: 'sum'; name?: string; labels: string[]; terms: Num[]; sum: Num }
  /** (left − right)² + (left − right)² + … = sum */
  | { kind: 'squares'; terms: Square[]; sum: Num }
  /** left − right = result; `labels` say what the three are. */
  | { kind: 'minus'; labels: [string, string, string]; left: Num; right: Num; result: Num }
  /** left · right = result */
  | { kind: 'times'; labels: [string, string, string]; left: Num; right: Num; result: Num }
  /** A gradient that is 0 without a computation; the sentence says why. */
  | { kind: 'zero'; result: Num; sentence: string }
  /** top / bottom = result */
  | { kind: 'quotient'; top: Num; bottom: Num; result: Num }
  /**
   * Words. With `rounding`, they say how the numbers shown in the other lines
   * are rounded; without such a line, those add up to the digits shown.
   */
  | { kind: 'sentence'; sentence: string; rounding?: true };

/** How one cell was computed. */
export type Derivation = {
  matrix: ComputedName;
  row: number;
  column: number;
  /** 'Score of “the” with “cat”' */
  title: string;
  lines: Line[];
  /** The cell's own number, as its matrix shows it. */
  result: Num;
  /** Every cell it came from, each once. */
  sources: Place[];
  /** The whole computation in full sentences, title included, for the live region. */
  spoken: string;
};

export type TokenChange =
  /** After this row (−1: in front of all). The new token has the embedding of its neighbour. */
  | { add: { after: number } }
  | { remove: number }
  | { rename: number; to: string };

export type Preset = {
  /** 'toy', 'previous', 'same', 'uniform'; with a target 'toy', 'wrong', 'fresh' */
  name: string;
  /** For a button or an option. */
  title: string;
  /** A sentence on what to see. */
  about: string;
  state: HeadState;
};

/** The data that stands in the page for `<attention-head>`: of the first preset. */
export type HeadData = {
  presets: Preset[];
  trace: HeadAnswer;
  cells: Record<ForwardName, Derivation[][]> & Partial<Record<BackwardName, Derivation[][]>>;
};

// --------------------------------------------------------- the soft lookup

export type LookupState = {
  /** What is looked up: one name a key. */
  names: string[];
  /** What the two numbers of a key or of the query say. */
  axes: [string, string];
  /** What the numbers of a value say. */
  facts: string[];
  /** (names, 2) as typed */
  keys: string[][];
  /** (names, facts) as typed */
  values: string[][];
  query: [string, string];
  /** Position of the temperature's slider, a whole number: 0 exact lookup, 500 τ = 1, 1000 plain average. */
  temperature: number;
};

/** A point of the plane; x to the right and y upwards, both 0..1 within the plane. */
export type Spot = { x: number; y: number };

export type LookupAnswer = {
  temperature: {
    /** 'τ → 0', 'τ = 0.35', 'τ = ∞' */
    shown: string;
    /** τ; 0 at the left end, '∞' at the right. */
    exact: Exact;
    /** For aria-valuetext and the caption: 'exact lookup: only the best match counts'. */
    sentence: string;
  };
  query: Spot & { numbers: [Num, Num] };
  /** Where (0, 0) is on the plane, for the axes and arrows. */
  origin: Spot;
  /** One a key, in the order of `names`. */
  keys: (Spot & {
    name: string;
    numbers: Num[];
    score: Num;
    /** How the score came about: of kind 'products', then perhaps a sentence on rounding. */
    how: Line[];
    weight: Num;
    /** The weight again, 0..1, for the length of a bar. */
    share: number;
    value: Num[];
  })[];
  /** The mixed value, one a fact, and how it came about. */
  mixed: { fact: string; number: Num; how: Line[] }[];
  /** The whole state in full sentences, for the live region. */
  spoken: string;
};

/** The data that stands in the page for `<soft-lookup>`. */
export type LookupData = { state: LookupState; answer: LookupAnswer };

// ------------------------------------------------------ the cost calculator

/** The sizes of a model and of a text, as typed. */
export type CostState = {
  tokens: string;
  layers: string;
  d_model: string;
  heads: string;
  /** Empty: d_model shared out among the heads. */
  d: string;
  /** Empty: as many as heads. */
  key_value_heads: string;
  /** Empty: four times d_model. */
  feed_forward: string;
  feed_forward_matrices: '2' | '3';
  vocabulary: string;
  /** Bytes of a number. */
  bytes: '1' | '2' | '4';
  /** Whether one matrix is both embedding and output. */
  tied: boolean;
  /** The machine's ceilings, in billions of operations and of bytes a second. */
  gigaflops: number;
  gigabytes: number;
};

/** A size that is typed. */
export type CostSize =
  | 'tokens' | 'layers' | 'd_model' | 'heads' | 'd' | 'key_value_heads' | 'feed_forward' | 'vocabulary';

/** A quantity with its unit, '2.15 billion'; `exact` has all digits of a count. */
export type CostCell = { shown: string; exact?: string };

export type CostAnswer = {
  /** Without a field, it is all sizes together that are too large. */
  problems: { field?: CostSize; sentence: string }[];
  /** What the empty sizes stand for; '' where that cannot be told. */
  follows: { d: string; key_value_heads: string; feed_forward: string };
  /** Always the same rows and columns; with problems there are no tables. */
  tables: {
    name: 'steps' | 'model' | 'memory';
    title: string;
    columns: string[];
    rows: { name: string; cells: CostCell[] }[];
  }[];
  /** On twice the tokens, on the machine's ridge, and on keys against weights. */
  sentences: string[];
  /** For the live region. */
  spoken: string;
};

/** The data that stands in the page for `<cost-calculator>`: the answer is that of the first preset. */
export type CostData = { presets: { title: string; state: CostState }[]; answer: CostAnswer };

// ------------------------------------------------------ a head that learns

/** A training after so many steps, or where it has ended by itself before. */
export type TrainRun = {
  steps: number;
  /** 'stopped': not learned in the most steps there are. */
  state: 'learning' | 'learned' | 'diverged' | 'stopped';
  loss: Num;
  /** How much attention the answer's position gets, on average. */
  attention: Num;
  curve: {
    /** The points of an SVG polyline, on a square of 1000; y goes down. */
    line: string;
    /** What stands at the axes: `at` from 0 to 1, of y from below. */
    x: { at: number; text: string }[];
    y: { at: number; text: string }[];
  };
  /** W_Q, W_K, W_V: one row a word, then one a position. */
  matrices: {
    name: InputName;
    shown: string[][];
    /** From −1 to 1. */
    shade: number[][];
    /** The size that has full shade. */
    full: string;
  }[];
  /** A few sentences, and where the head looks in each. */
  examples: {
    words: string[];
    /** At which word something is asked, and which word is the answer. */
    asked: [at: number, source: number][];
    shown: string[][];
    /** From 0 to 1. */
    shade: number[][];
  }[];
  /** Where the training is, in full sentences. */
  spoken: string;
};

/** With problems there is no run: go on showing the last, marked as stale. */
export type TrainAnswer = { problems: { field: 'seed' | 'rate'; sentence: string }[]; run?: TrainRun };

/** The data that stands in the page for `<learning-head>`. */
export type TrainData = {
  words: string[];
  positions: string[];
  /** As typed. */
  seed: string;
  rate: string;
  /** `stages` is the run of this seed and rate before, on its way and at its end. */
  tasks: { name: 'noun' | 'previous'; title: string; about: string; stages: TrainRun[] }[];
};

// ------------------------------------------------- the trained transformer

/** A part of a whole: '0.62', and for drawing the same from 0 to 1, in thousandths. */
export type Share = { shown: string; share: number };

/** What the model expects to come next. */
export type NextWords = {
  /** The likeliest words, the likeliest first: always as many. */
  likeliest: { word: string; chance: Share }[];
  /** All verbs of one number together. */
  verb_for_one: Share;
  verb_for_many: Share;
};

export type Reading = {
  /** As they were read: a full stop first. */
  words: string[];
  /** By layer, head, word that looks and word looked at; closed ones are left out. */
  maps: Share[][][][];
  /** At each word, with all heads on. */
  before: NextWords[];
  /** The same with some heads switched off, where some are. */
  after?: NextWords[];
  /** For the live region. */
  spoken: string;
};

/** One of the two. */
export type ReadAnswer = {
  reading?: Reading;
  problem?: {
    sentence: string;
    /** A word that could be meant, and the whole sentence with it. */
    suggestion?: string;
    mended?: string;
  };
};

/** The data that stands in the page for `<pattern-reader>`: the reading is that of the first sentence. */
export type ReaderData = {
  sentences: string[];
  reading: Reading;
  /** Layer and head to begin with. */
  head: [number, number];
  /** What each head is known for, by layer and head; often nothing. */
  names: string[][];
  /** All words that the model knows. */
  vocabulary: string[];
};

// ------------------------------------------------------ asking the engine

/** Each request, by its `ask`, with what the engine answers to it. */
export type Exchanges = {
  head: [{ ask: 'head'; state: HeadState }, HeadAnswer];
  cell: [
    { ask: 'cell'; state: HeadState; matrix: ComputedName; row: number; column: number },
    Derivation,
  ];
  /** What was typed, in its shortest form ('-0.5': a plain hyphen), or why it is no number. */
  number: [{ ask: 'number'; text: string }, { text: string } | { sentence: string }];
  /** `by` tenths more: ±1 for an arrow key, ±10 with Page Up or Down; stops at ±1000. */
  step: [{ ask: 'step'; text: string; by: number }, { text: string } | { sentence: string }];
  /** The whole new state, or why the change cannot be made. */
  token: [
    { ask: 'token'; state: HeadState; change: TokenChange },
    { state: HeadState } | { sentence: string },
  ];
  lookup: [{ ask: 'lookup'; state: LookupState }, LookupAnswer];
  /** The query at a place of the plane (0..1, kept inside), to two digits. */
  point: [{ ask: 'point'; x: number; y: number }, { query: [string, string] }];
  /** The query moved by so many tenths (of a number, not of the plane), kept inside. */
  nudge: [
    { ask: 'nudge'; query: [string, string]; x: number; y: number },
    { query: [string, string] } | { sentence: string },
  ];
  cost: [{ ask: 'cost'; state: CostState }, CostAnswer];
  /** The run of a task, a seed and a learning rate, as typed, after so many steps. */
  train: [
    { ask: 'train'; task: 'noun' | 'previous'; seed: string; rate: string; steps: number },
    TrainAnswer,
  ];
  /** Needs weights that were handed over by `keep`. `off`: pairs of layer and head. */
  read: [{ ask: 'read'; words: string; off: [number, number][] }, ReadAnswer];
  /** A size doubled so many times, or with a minus halved; stops at 1 and at a billion. */
  double: [{ ask: 'double'; text: string; times: number }, { text: string } | { sentence: string }];
};

export type Request = Exchanges[keyof Exchanges][0];

/** An unreadable request: of another shape, or a state whose sizes do not fit. */
export type Failure = { error: string };

export interface Engine {
  /** Throws an Error with the engine's sentence where it answers with a Failure. */
  ask<Asked extends Request>(request: Asked): Exchanges[Asked['ask']][1];
  /** Hands over a file of weights; throws likewise where it is none. */
  keep(bytes: Uint8Array): { heads: number };
}
