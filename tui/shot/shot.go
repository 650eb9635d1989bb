// Package shot draws a screen as an SVG picture.
//
// Its input is what a page's view gives: lines of text with SGR sequences, nothing
// else. Reverse, bold, faint, underline and the sixteen named colours are drawn, so
// that the README shows what a terminal shows. Only tests use it, to make the pictures
// from the golden screens and to see that they are not stale. Standard library and
// x/ansi alone.
package shot

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Cell size and margin, in the picture's units.
const (
	cellW  = 8.4
	cellH  = 18
	margin = 12
	ink    = "#d8dee9"
	paper  = "#14181f"
)

// colours are the sixteen named ones, as many terminals show them.
var colours = [16]string{
	"#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
	"#5c6370", "#ff7a85", "#b5e890", "#ffd68a", "#8cc8ff", "#e0a0f0", "#7fd6e0", "#ffffff",
}

// pen is how text is drawn from here on.
type pen struct {
	fg, bg                        string
	bold, faint, reverse, underln bool
}

// SVG draws a screen of w columns. Text stands on a grid: each run of one style is
// stretched to its cells, so that no font moves a column.
func SVG(title, screen string, w int) string {
	lines := strings.Split(screen, "\n")
	var b strings.Builder
	width, height := float64(w)*cellW+2*margin, float64(len(lines))*cellH+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="%.1f" height="%.1f" rx="6" fill="%s"/>`+"\n", width, height, paper)
	b.WriteString(`<g font-family="ui-monospace,'DejaVu Sans Mono','JetBrains Mono',Menlo,Consolas,monospace" font-size="14" xml:space="preserve">` + "\n")
	for i, l := range lines {
		line(&b, l, margin+float64(i)*cellH)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// line draws one line at height y.
func line(b *strings.Builder, l string, y float64) {
	var p pen
	x := 0
	for l != "" {
		if rest, ok := strings.CutPrefix(l, "\x1b["); ok {
			end := strings.IndexByte(rest, 'm')
			if end < 0 {
				return
			}
			p = p.sgr(rest[:end])
			l = rest[end+1:]
			continue
		}
		end := strings.IndexByte(l, 0x1b)
		if end < 0 {
			end = len(l)
		}
		if end == 0 {
			return // an escape that is not SGR: the views' own test refuses it
		}
		for _, run := range words(l[:end]) {
			n := ansi.StringWidth(run)
			p.run(b, run, x, n, y)
			x += n
		}
		l = l[end:]
	}
}

// words splits text before and after every gap of two cells or more: where a viewer
// does not stretch text to its cells, at least the columns stand where they should.
func words(s string) []string {
	var out []string
	for s != "" {
		i := strings.Index(s, "  ")
		if i < 0 {
			return append(out, s)
		}
		if i > 0 {
			out = append(out, s[:i])
		}
		end := i + len(s[i:]) - len(strings.TrimLeft(s[i:], " "))
		out, s = append(out, s[i:end]), s[end:]
	}
	return out
}

// run draws n cells of text in one style.
func (p pen) run(b *strings.Builder, text string, at, n int, y float64) {
	fg, bg := p.fg, p.bg
	if fg == "" {
		fg = ink
	}
	if p.reverse {
		if bg == "" {
			bg = paper
		}
		fg, bg = bg, fg
	}
	x := margin + float64(at)*cellW
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, float64(n)*cellW, cellH, bg)
	}
	if strings.TrimSpace(text) == "" && !p.underln {
		return
	}
	style := ""
	if p.bold {
		style += ` font-weight="bold"`
	}
	if p.faint {
		style += ` opacity="0.65"`
	}
	if p.underln {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="1" fill="%s"/>`+"\n", x, y+cellH-3, float64(n)*cellW, fg)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		x, y+13, float64(n)*cellW, fg, style, html.EscapeString(text))
}

// sgr applies one Select Graphic Rendition sequence (ECMA-48 8.3.117).
func (p pen) sgr(params string) pen {
	fields := strings.Split(params, ";")
	for i := 0; i < len(fields); i++ {
		n, _ := strconv.Atoi(fields[i]) // empty: 0
		switch {
		case n == 0:
			p = pen{}
		case n == 1:
			p.bold = true
		case n == 2:
			p.faint = true
		case n == 4:
			p.underln = true
		case n == 7:
			p.reverse = true
		case n >= 30 && n <= 37:
			p.fg = colours[n-30]
		case n >= 90 && n <= 97:
			p.fg = colours[n-90+8]
		case n >= 40 && n <= 47:
			p.bg = colours[n-40]
		case n == 39:
			p.fg = ""
		case n == 49:
			p.bg = ""
		}
	}
	return p
}
