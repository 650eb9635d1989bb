package ghrunner

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// message is what the broker sends.
type message struct {
	ID   int    `json:"messageId"`
	Type string `json:"messageType"`
	Body string `json:"body"`
}

// refusal is how the broker says no (src/Sdk/WebApi/WebApi/BrokerError.cs).
type refusal struct {
	Source  string `json:"source"`
	Kind    string `json:"errorKind"`
	Message string `json:"message"`
}

// listen takes messages until there is a reason to end.
func (l *Listener) listen(ctx context.Context) int {
	for ctx.Err() == nil {
		poll, again := context.WithCancel(ctx)
		l.mu.Lock()
		status := "Online"
		if l.job != nil {
			status = "Busy"
			l.job.again = again
		}
		l.mu.Unlock()
		r, err := l.call(poll, http.MethodGet, l.files.agent.ServerURLV2+"message?"+l.query(status), l.access, nil)
		cut := poll.Err() != nil && ctx.Err() == nil
		again()
		switch {
		case ctx.Err() != nil:
			return ExitOK
		case cut:
			l.log("INFO", "BrokerMessageListener", "Get messages has been cancelled using local token source. Continue to get messages with new status.")
			continue
		}
		l.asked(r.status)
		switch {
		case err == nil && r.status == http.StatusOK:
			l.handle(ctx, r.body)
		case err == nil && r.status == http.StatusAccepted:
		default:
			if code, ended := l.troubled(ctx, r, err); ended {
				return code
			}
		}
	}
	return ExitOK
}

func (l *Listener) query(status string) string {
	return url.Values{
		"sessionId": {l.session}, "status": {status}, "runnerVersion": {l.c.Version}, "os": {"Linux"}, "architecture": {"X64"}, "disableUpdate": {"false"},
	}.Encode()
}

func (l *Listener) handle(ctx context.Context, body []byte) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		l.log("ERR ", "Runner", "Received a message that is not understood.")
		return
	}
	l.log("INFO", "Runner", "Message '"+m.Type+"' received.")
	switch m.Type {
	case "RunnerJobRequest":
		l.take(ctx, m.Body)
	case "JobCancellation":
		l.mu.Lock()
		if l.job != nil {
			l.job.cancel()
		}
		l.mu.Unlock()
	}
}

// troubled is what a listener does when it is not answered as it wants; ended says
// that the process is over. That is where the generations differ.
func (l *Listener) troubled(ctx context.Context, r reply, err error) (code int, ended bool) {
	var no refusal
	if err == nil {
		_ = json.Unmarshal(r.body, &no) // what is not JSON is no refusal of the broker
	}
	switch {
	case no.Kind == "RunnerNotFound" && l.generation() == "new":
		l.log("INFO", "Runner", "Runner registration no longer exists while retrieving messages. "+no.Message)
		l.complain("The runner no longer exists on the server. Cleaning up local configuration.")
		l.lost()
		l.wipe()
		return ExitOK, true
	case no.Kind == "RunnerNotFound" && l.generation() == "middle":
		l.complain("An error occurred: " + no.Message)
		l.lost()
		return ExitTerminated, true
	case no.Kind == "RunnerNotFound", no.Kind == "RunnerSessionInvalid":
		l.log("ERR ", "BrokerMessageListener", "Catch exception during get next message.")
		l.log("ERR ", "BrokerMessageListener", no.Message)
		l.lost()
		if code, ok := l.connect(ctx); !ok {
			return code, true
		}
		return 0, false
	}
	said := "status " + http.StatusText(r.status)
	if err != nil {
		said = "the connection failed"
	}
	l.log("ERR ", "BrokerMessageListener", "Catch exception during get next message.")
	l.complain(l.utc() + ": Runner connect error: " + said + ". Retrying until reconnected.")
	return 0, l.c.Clock.Wait(ctx, messageRetry) != nil
}
