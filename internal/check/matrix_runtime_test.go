package check_test

// runtimeRows are what runs, what git and build tools start, and what was exchanged in
// place: with payloads that carry no sign but their place.
var runtimeRows = []row{}
