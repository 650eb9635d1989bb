//go:build !linux

package clock

// Kernel is not known on this system.
func Kernel() Sync { return Sync{State: NotKnown, Why: "this system does not tell"} }
