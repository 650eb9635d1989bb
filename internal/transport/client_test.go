package transport

import (
	"context"
	"strings"

	"github.com/xanzy/go-gitlab"
)

var planted = "glrt-" + strings.Repeat("z", 20)

// newToken is an argument that the stock library writes into a URL's query.
var newToken = gitlab.DeleteRegisteredRunnerOptions{Token: &planted}

func withCtx(ctx context.Context) gitlab.RequestOptionFunc { return gitlab.WithContext(ctx) }
