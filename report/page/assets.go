package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"strings"
	"sync"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// assets are the page's templates, styles and scripts, and uPlot, which draws curves.
//
//go:embed assets
var assets embed.FS

// asset is the text of a style or script, and what the content policy calls it.
type asset struct{ text, hash string }

// Styles and scripts in the order in which they work. They are read when a page is first
// written: most commands write none.
var (
	styles = sync.OnceValue(func() []asset {
		return assetList("uplot/uPlot.min.css", "page.css", "tables.css", "timeline.css")
	})
	scripts = sync.OnceValue(func() []asset {
		// What draws curves, with its licence, which asks to be with each copy.
		uPlot := assetList("uplot/LICENSE", "uplot/uPlot.iife.min.js")
		return append([]asset{newAsset("/*\n" + uPlot[0].text + "\n*/\n" + uPlot[1].text)}, assetList("format.js", "data.js", "timeline*.js", "tables.js",
			"axes.js", "charts.js", "overtime.js", "spectrum.js", "flame.js", "requests.js", "boot.js")...)
	})
)

// assetList reads assets; patterns may match none or several, which come sorted.
func assetList(patterns ...string) []asset {
	var list []asset
	for _, p := range patterns {
		names, err := fs.Glob(assets, "assets/"+p)
		if err != nil {
			panic("page: " + err.Error())
		}
		for _, name := range names {
			data, err := assets.ReadFile(name)
			if err != nil {
				panic("page: " + err.Error())
			}
			list = append(list, newAsset(string(data)))
		}
	}
	return list
}

func newAsset(text string) asset {
	sum := sha256.Sum256([]byte(text))
	return asset{text, "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}
}

// policy is what the page may do: run its own scripts and styles, and nothing else. Only
// one that is served may ask for more, from where it came. Browsers that know trusted types
// refuse to make markup or scripts of text, whoever tries.
func policy(live bool) string {
	return strings.Join([]string{"default-src 'none'", "script-src " + hashes(scripts()), "style-src " + hashes(styles()),
		"img-src data:", "connect-src " + textui.Either(live, "'self'", "'none'"), "base-uri 'none'", "form-action 'none'",
		"require-trusted-types-for 'script'", "trusted-types 'none'"}, "; ")
}

func hashes(list []asset) string {
	return strings.Join(result.Each(list, func(a *asset) string { return a.hash }), " ")
}
