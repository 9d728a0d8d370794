//! New texts from old ones: bytes flipped, pieces cut out, doubled, taken from elsewhere, words put in.

use fastrand::Rng;

/// The longest text that is made, in bytes.
const LONGEST: usize = 8 << 10;
/// Bytes that mean something somewhere.
const BYTES: &[u8] = b"\0\n\r\t \"'\\/=#[]{}:,.-+*019azA\x7f\x80\xc3\xff";

/// Makes texts; the same ones from the same seed.
pub struct Mutator {
    corpus: Vec<Vec<u8>>,
    words: &'static [&'static str],
    rng: Rng,
}

impl Mutator {
    pub fn new(corpus: Vec<Vec<u8>>, words: &'static [&'static str], seed: u64) -> Self {
        Mutator { corpus, words, rng: Rng::with_seed(seed) }
    }

    /// One more.
    pub fn next(&mut self) -> Vec<u8> {
        let mut text = self.seed();
        for _ in 0..self.rng.usize(1..=6) {
            self.change(&mut text);
        }
        text.truncate(LONGEST);
        text
    }

    fn seed(&mut self) -> Vec<u8> {
        let at = self.rng.usize(0..self.corpus.len());
        self.corpus[at].clone()
    }

    fn change(&mut self, text: &mut Vec<u8>) {
        let at = self.rng.usize(0..=text.len());
        let end = text.len().min(at + self.length());
        match self.rng.u8(0..7) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
            2 => {
                let other = self.seed();
                let from = self.rng.usize(0..=other.len());
                let upto = other.len().min(from + self.length());
                text.splice(at..end, other[from..upto].iter().copied());
            }
            3 if at < text.len() => text[at] ^= 1 << self.rng.u8(0..8),
            4 if at < text.len() => text[at] = BYTES[self.rng.usize(0..BYTES.len())],
            5 => {
                let word = self.words[self.rng.usize(0..self.words.len())];
                text.splice(at..end, word.bytes());
            }
            _ => {
                let word = self.words[self.rng.usize(0..self.words.len())];
                text.splice(at..at, word.bytes());
            }
        }
    }

    /// Short pieces mostly, long ones at times.
    fn length(&mut self) -> usize {
        1 << self.rng.usize(0..10) >> self.rng.usize(0..4)
    }
}
