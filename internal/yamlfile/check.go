package yamlfile

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// checker walks the document against the type it will be read into. The library
// would turn 0123 into "83" and drop what it does not know in maps; here the
// person hears of it.
type checker struct {
	doc  *Doc
	errs Errors
}

func (c *checker) check(path []string, n ast.Node, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode, *ast.DirectiveNode:
		c.add(n, "write the value out", "anchors, aliases and tags are not used here")
		return
	case *ast.NullNode:
		switch t.Kind() {
		case reflect.String, reflect.Bool, reflect.Int:
			c.add(n, "give it one or remove the line", "no value")
		}
		return // an empty block is an absent one
	}
	switch t.Kind() {
	case reflect.Struct:
		c.fields(path, n, t)
	case reflect.Map:
		for _, kv := range c.mapping(n) {
			if key, ok := c.key(path, kv); ok {
				c.check(append(slices.Clone(path), key), kv.Value, t.Elem())
			}
		}
	case reflect.Slice:
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			c.add(n, "write [a, b] or one \"- \" line for each", "%s where a list is expected", kind(n))
			return
		}
		for i, item := range seq.Values {
			at := append(slices.Clone(path), strconv.Itoa(i))
			c.mark(at, item)
			c.check(at, item, t.Elem())
		}
	case reflect.String:
		switch n.(type) {
		case *ast.StringNode, *ast.LiteralNode:
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			c.add(n, "put it in quotes", "%s where text is expected", kind(n))
		default:
			c.add(n, "", "%s where text is expected", kind(n))
		}
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			c.add(n, "write true or false", "%s where true or false is expected", kind(n))
		}
	case reflect.Int:
		if _, ok := n.(*ast.IntegerNode); !ok {
			c.add(n, "", "%s where a whole number is expected", kind(n))
		}
	}
}

func (c *checker) fields(path []string, n ast.Node, t reflect.Type) {
	known := map[string]reflect.Type{}
	names := []string{}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
			known[name] = f.Type
			names = append(names, name)
		}
	}
	for _, kv := range c.mapping(n) {
		key, ok := c.key(path, kv)
		if !ok {
			continue
		}
		ft, ok := known[key]
		if !ok {
			c.unknown(kv, key, names)
			continue
		}
		c.check(append(slices.Clone(path), key), kv.Value, ft)
	}
}

// word is what a key may look like to be shown: a token pasted as a key is not one.
var word = regexp.MustCompile(`^[a-z_]{1,24}$`)

func (c *checker) unknown(kv *ast.MappingValueNode, key string, names []string) {
	near := Nearest(key, names)
	switch {
	case near != "":
		c.add(kv.Key, "did you mean "+near+"?", "unknown key %q", key)
	case word.MatchString(key):
		c.add(kv.Key, "known here: "+strings.Join(names, ", "), "unknown key %q", key)
	default:
		c.add(kv.Key, "known here: "+strings.Join(names, ", "), "unknown key")
	}
}

func (c *checker) mapping(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	c.add(n, "", "%s where \"key: value\" lines are expected", kind(n))
	return nil
}

func (c *checker) key(path []string, kv *ast.MappingValueNode) (string, bool) {
	s, ok := kv.Key.(*ast.StringNode)
	if !ok {
		c.add(kv.Key, "put it in quotes", "a key that is not plain text")
		return "", false
	}
	c.mark(append(slices.Clone(path), s.Value), kv.Key)
	return s.Value, true
}

func (c *checker) mark(path []string, n ast.Node) {
	p := n.GetToken().Position
	c.doc.pos[strings.Join(path, "\x00")] = [2]int{p.Line, p.Column}
}

func (c *checker) add(n ast.Node, hint, format string, args ...any) {
	e := c.doc.Errorf(nil, hint, format, args...)
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		e.Line, e.Col = tk.Position.Line, tk.Position.Column
	}
	c.errs = append(c.errs, e)
}

func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "\"key: value\" lines"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "an anchor, alias or tag"
	}
	return "something else"
}
