package model

type runnableState struct{}
type openRegion struct{}
type openRange struct{}
