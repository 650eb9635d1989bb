package github

// App names a GitHub App's installation.
type App struct {
	ID, Installation int64
}
