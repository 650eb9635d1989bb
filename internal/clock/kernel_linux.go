package clock

import "syscall"

// Bits of struct timex, linux/timex.h.
const (
	staUnsync = 0x0040
	staNano   = 0x2000
	timeError = 5 // the clock is not synchronised
)

// Kernel asks the kernel whether something keeps its clock right, as adjtimex(2) tells
// it. Reading needs no privilege; some sandboxes refuse it all the same.
func Kernel() Sync {
	var t syscall.Timex // modes 0: nothing is set
	state, err := syscall.Adjtimex(&t)
	if err != nil {
		return Sync{State: NotKnown, Why: "adjtimex: " + err.Error()}
	}
	s := Sync{State: Synchronised, Source: "kernel", OffsetUS: int64(t.Offset), MaxErrorUS: int64(t.Maxerror)}
	if t.Status&staNano != 0 {
		s.OffsetUS /= 1000
	}
	if state == timeError || t.Status&staUnsync != 0 {
		s.State = NotSynchronised
	}
	return s
}
