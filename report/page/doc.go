// Package page renders a [result.Report] as one HTML file that needs nothing else: no
// network, no other file. What is drawn in it interactively is drawn by scripts
// that are part of the package. This package promises nothing to other modules.
//
// Names in traces are untrusted: they reach the page as text through
// html/template, or as JSON that scripts put into text nodes; the page's content
// policy allows no script but those of this package, by their hashes.
package page
