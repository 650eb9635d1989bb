package check

// Told is what a sweep counts as read whole, for the test that holds it against the
// collector.
var Told = told
