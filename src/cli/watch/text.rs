//! Texts that fit: cut with a mark, or broken into lines.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::draw::style;
use super::rows::Tone;
use crate::cli::output;

/// A line that fits; what is left out is marked.
pub fn cut(whole: Line<'static>, width: usize) -> Line<'static> {
    if whole.width() <= width {
        return whole;
    }
    let (mut spans, mut left) = (Vec::new(), width.saturating_sub(1));
    'spans: for span in whole.spans {
        let mut kept = String::new();
        for piece in span.styled_graphemes(Style::new()) {
            let wide = Span::raw(piece.symbol).width();
            if wide > left {
                spans.push(Span::styled(kept, span.style));
                break 'spans;
            }
            left -= wide;
            kept.push_str(piece.symbol);
        }
        spans.push(Span::styled(kept, span.style));
    }
    if width > 0 {
        spans.push(Span::raw("…"));
    }
    Line::from(spans)
}

/// A stored text as lines that fit, broken between words where that can be; lines after the first of each
/// begin with `indent`. Nothing in them is obeyed by a terminal.
pub fn wrapped(tone: Tone, text: &str, width: usize, indent: &str, colour: bool) -> Vec<Line<'static>> {
    let as_line = |text: String| Line::from(Span::styled(text, style(tone, colour)));
    let safe = output::multiline(text).replace('\t', "    ");
    safe.lines().flat_map(|one| broken(one, width, indent)).map(as_line).collect()
}

fn broken(text: &str, width: usize, indent: &str) -> Vec<String> {
    let (mut lines, mut now) = (Vec::new(), String::new());
    for word in text.split_inclusive(' ') {
        let fits = Span::raw(&now).width() + Span::raw(word.trim_end()).width() <= width;
        if !fits && !now.trim().is_empty() {
            lines.push(std::mem::replace(&mut now, indent.to_owned()));
        }
        for piece in Span::raw(word).styled_graphemes(Style::new()) {
            let wide = Span::raw(&now).width() + Span::raw(piece.symbol).width();
            if wide > width && piece.symbol != " " && !now.trim().is_empty() {
                lines.push(std::mem::replace(&mut now, indent.to_owned()));
            }
            now.push_str(piece.symbol);
        }
    }
    lines.push(now);
    lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &Line<'_>) -> String {
        line.spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn what_does_not_fit_is_marked() {
        let line = |text: &'static str| Line::from(vec![Span::raw("ab"), Span::raw(text)]);
        assert_eq!(shown(&cut(line("cdef"), 6)), "abcdef");
        assert_eq!(shown(&cut(line("cdefg"), 6)), "abcde…");
        assert_eq!(shown(&cut(line("世界世界"), 6)), "ab世…");
        assert_eq!(shown(&cut(line("cdefg"), 0)), "");
        assert_eq!(shown(&cut(line("cdefg"), 1)), "…");
    }

    #[test]
    fn texts_are_broken_between_words_and_long_words_anywhere() {
        assert_eq!(broken("one two three", 8, "  "), ["one two", "  three"]);
        assert_eq!(broken("abcdefghij", 4, ""), ["abcd", "efgh", "ij"]);
        assert_eq!(broken("", 4, ""), [""]);
        assert_eq!(broken("世界世界", 5, ""), ["世界", "世界"]);
        assert_eq!(broken("a b", 0, "  "), broken("a b", 0, "  "));
    }
}
