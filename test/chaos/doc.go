// Package chaos runs clients against a node that dies and comes back, and has what
// they saw checked by package history.
package chaos
