// Package preflight looks at the rights of a login before anything is read, and
// names all that are missing in one error: each attempt that ends with the next
// one costs a person a round. What is not looked at here, such as a right that is
// taken away later, is an error where it is missed.
package preflight
