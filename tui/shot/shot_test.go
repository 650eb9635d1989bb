package shot

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAScreenBecomesAPicture(t *testing.T) {
	svg := SVG("a <title>", "\x1b[7m cordon \x1b[0m\n\x1b[1;31mx bad\x1b[0m plain <&> ✓\n\n\x1b[2mfaint\x1b[m", 20)
	for _, want := range []string{
		`aria-label="a &lt;title&gt;"`, `fill="` + ink + `"/>`, // reverse: the bar is a block of ink
		`font-weight="bold">x bad`, `fill="` + colours[1] + `"`, `plain &lt;&amp;&gt; ✓`, `opacity="0.65"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
	if strings.Contains(svg, "\x1b") {
		t.Error("an escape got into the picture")
	}
}

// Each run is stretched to its cells: a column stands where the grid says.
func TestColumnsStandOnTheGrid(t *testing.T) {
	svg := SVG("t", "ab\x1b[1mcd\x1b[0m漢e", 8)
	for _, want := range []string{`x="12.0" y="25.0" textLength="16.8"`, `x="28.8" y="25.0" textLength="16.8"`, `x="45.6" y="25.0" textLength="25.2"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
}
