package engine

var planFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{}
