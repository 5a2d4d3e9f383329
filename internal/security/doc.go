// Package security says who a client is and what it may do. There is one
// authorizer so far, which allows everything; the package is where access control
// lists, SASL and TLS come in. It knows nothing of requests.
package security
