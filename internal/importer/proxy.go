package importer

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

var (
	// time.ms elapsed client code/status bytes method url … (squid-cache.org, "Squid native access.log")
	squid = regexp.MustCompile(`^(\d{9,10}\.\d{3})\s+\d+\s+(\S+)\s+[A-Z_]+/(\d{3})\s+\d+\s+([A-Z]+)\s+(\S+)`)
	// host ident user [time] "method target proto" status … (httpd.apache.org, "Combined Log Format")
	combined = regexp.MustCompile(`^(\S+) \S+ \S+ \[([^\]]{20,40})\] "([A-Z]+) (\S+)[^"]*" (\d{3})`)
	pair     = regexp.MustCompile(`([A-Za-z_.]{1,40})=("(?:[^"\\]|\\.)*"|\S+)`)
)

// proxy reads lines. Of an address only scheme-less host and port stay: paths and
// queries hold tokens.
func proxy(l *Log, b []byte) error {
	l.lines(b, func(n int, s string) {
		if m := squid.FindStringSubmatch(s); m != nil {
			status, _ := strconv.Atoi(m[3])
			l.add(Entry{Line: n, At: epoch(m[1]), From: m[2], Status: status, Action: m[4], To: hostOf(m[5])})
			return
		}
		if m := combined.FindStringSubmatch(s); m != nil {
			status, _ := strconv.Atoi(m[5])
			l.add(Entry{Line: n, At: moment(m[2]), From: m[1], Status: status, Action: m[3], To: hostOf(m[4])})
			return
		}
		l.pairs(n, s)
	})
	return nil
}

// pairs reads key=value, as firewalls write it, with the time in front or among them.
func (l *Log) pairs(n int, s string) {
	o := object{}
	for _, m := range pair.FindAllStringSubmatch(s, 100) {
		o[strings.ToLower(m[1])] = strings.Trim(m[2], `"`)
	}
	from, to := o.first("src", "srcip", "src_ip", "source", "source_ip", "client"), o.first("dst", "dstip", "dst_ip", "destination", "dest", "destination_ip", "host", "dhost")
	if from == "" || to == "" {
		l.skip(n, "it is no line of a proxy or a firewall that is known here")
		return
	}
	first, _, _ := strings.Cut(s, " ")
	at := moment(first)
	if at.IsZero() {
		at = moment(o.first("time", "timestamp", "ts", "eventtime", "start"))
	}
	if d, t := o.first("date"), o.first("time"); at.IsZero() && d != "" && t != "" {
		at = moment(d + " " + t)
	}
	to = hostOf(to)
	if port := o.first("dpt", "dport", "dst_port", "dstport", "destination_port"); port != "" && to != "" && !strings.Contains(to, ":") && len(port) <= 5 && strings.Trim(port, "0123456789") == "" {
		to = net.JoinHostPort(to, port)
	}
	status, _ := strconv.Atoi(o.first("status", "http_status"))
	if status < 100 || status > 599 {
		status = 0
	}
	l.add(Entry{Line: n, At: at, From: hostOf(from), To: to, Action: o.first("action", "act", "method", "disposition"), Status: status})
}

// hostOf is host[:port] of a URL, of HOST:PORT or of a path alone, which has none.
func hostOf(s string) string {
	if strings.HasPrefix(s, "/") {
		return ""
	}
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		if err != nil {
			return ""
		}
		return strings.ToLower(u.Host)
	}
	s, _, _ = strings.Cut(s, "/")
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	return strings.ToLower(s)
}
