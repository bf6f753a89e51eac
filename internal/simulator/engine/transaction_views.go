package engine

func (in *Instance) registerTransactionViews() {}
