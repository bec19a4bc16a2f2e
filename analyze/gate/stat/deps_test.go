package stat

import (
	_ "github.com/aclements/go-moremath/stats"
)
