package github

import "cordon/providers"

var _ interface {
	providers.JobLister
	providers.Coster
	providers.Running
	providers.Finder
	providers.Exposer
	providers.Publisher
	providers.Returner
	providers.Auditor
	providers.Expirer
	providers.Rememberer
} = (*Provider)(nil)
