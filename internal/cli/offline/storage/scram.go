package storage

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// scramMechanism is one of the two that Kafka knows.
type scramMechanism struct {
	name   string
	number int8
	hash   func() hash.Hash
}

func scramMechanisms() []scramMechanism {
	return []scramMechanism{{"SCRAM-SHA-256", 1, sha256.New}, {"SCRAM-SHA-512", 2, sha512.New}}
}

// Limits of the iteration count.
const (
	minIterations = 4096
	maxIterations = 16384
)

// scramSince is the metadata.version that knows credentials: 3.5-IV2.
const scramSince kafka.MetadataVersion = 11

// parseScram reads an argument of --add-scram,
// MECHANISM=[name=…,password=…,salt="…",iterations=…], into a record. Fields are
// divided at every comma, as Apache Kafka does: a password cannot hold one.
func parseScram(arg string, random io.Reader) (*metarec.UserScramCredentialRecord, error) {
	name, config, ok := strings.Cut(strings.TrimSpace(arg), "=")
	if !ok {
		return nil, fmt.Errorf("Failed to find equals sign in SCRAM argument '%s'", arg)
	}
	mechanisms := scramMechanisms()
	at := slices.IndexFunc(mechanisms, func(m scramMechanism) bool { return m.name == name })
	if at < 0 {
		return nil, fmt.Errorf("The add-scram mechanism %s is not supported.", name)
	}
	if !strings.HasPrefix(config, "[") {
		return nil, fmt.Errorf("Expected configuration string to start with [")
	}
	if !strings.HasSuffix(config, "]") {
		return nil, fmt.Errorf("Expected configuration string to end with ]")
	}
	fields, err := scramFields(config[1 : len(config)-1])
	if err != nil {
		return nil, err
	}
	return scramRecord(mechanisms[at], fields, random)
}

// scramFields divides a=b,c="d".
func scramFields(config string) (map[string]string, error) {
	fields := map[string]string{}
	for part := range strings.SplitSeq(config, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("No equals sign found in SCRAM component: %s", part)
		}
		if len(value) >= 2 && strings.HasPrefix(value, `"`) && strings.HasSuffix(value, `"`) {
			value = value[1 : len(value)-1]
		}
		fields[key] = value
	}
	return fields, nil
}

// scramRecord checks the fields in the order in which Apache Kafka complains, and
// works out the keys that are stored (RFC 5802).
func scramRecord(m scramMechanism, fields map[string]string, random io.Reader) (*metarec.UserScramCredentialRecord, error) {
	take := func(key string) (string, bool) {
		value, ok := fields[key]
		delete(fields, key)
		return value, ok
	}
	r := metarec.NewUserScramCredentialRecord()
	r.Mechanism, r.Iterations = m.number, minIterations
	name, ok := take("name")
	if !ok {
		return nil, fmt.Errorf("You must supply 'name' to add-scram")
	}
	r.Name = name
	saltText, hasSalt := take("salt")
	if hasSalt {
		salt, err := base64.StdEncoding.DecodeString(saltText)
		if err != nil {
			return nil, fmt.Errorf("Failed to decode given salt: %s", saltText)
		}
		r.Salt = salt
	}
	if text, ok := take("iterations"); ok {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("Failed to parse iterations count: %s", text)
		}
		r.Iterations = int32(n)
	}
	password, hasPassword := take("password")
	saltedText, hasSalted := take("saltedpassword")
	var salted []byte
	switch {
	case hasPassword:
	case !hasSalted:
		return nil, fmt.Errorf("You must supply one of 'password' or 'saltedpassword' to add-scram")
	case !hasSalt:
		return nil, fmt.Errorf("You must supply 'salt' with 'saltedpassword' to add-scram")
	default:
		var err error
		if salted, err = base64.StdEncoding.DecodeString(saltedText); err != nil {
			return nil, fmt.Errorf("Failed to decode given saltedpassword: %s", saltedText)
		}
	}
	if len(fields) > 0 {
		return nil, fmt.Errorf("Unknown SCRAM configurations: %s", strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	if err := checkIterations(m, r.Iterations); err != nil {
		return nil, err
	}
	if !hasSalt {
		salt, err := randomSalt(random)
		if err != nil {
			return nil, err
		}
		r.Salt = salt
	}
	if hasPassword {
		if password == "" {
			return nil, fmt.Errorf("The password of the user '%s' is empty", r.Name)
		}
		var err error
		if salted, err = pbkdf2.Key(m.hash, password, r.Salt, int(r.Iterations), m.hash().Size()); err != nil {
			return nil, err
		}
	}
	clientKey := m.hmac(salted, "Client Key")
	storedKey := m.hash()
	storedKey.Write(clientKey)
	r.StoredKey, r.ServerKey = storedKey.Sum(nil), m.hmac(salted, "Server Key")
	return r, nil
}

func checkIterations(m scramMechanism, n int32) error {
	constant := strings.ReplaceAll(m.name, "-", "_")
	switch {
	case n < minIterations:
		return fmt.Errorf("The 'iterations' value must be >= %d for add-scram using %s", minIterations, constant)
	case n > maxIterations:
		return fmt.Errorf("The 'iterations' value must be <= %d for add-scram using %s", maxIterations, constant)
	}
	return nil
}

func (m scramMechanism) hmac(key []byte, text string) []byte {
	h := hmac.New(m.hash, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// randomSalt draws 130 bits and writes them in base 36, as Apache Kafka does.
func randomSalt(random io.Reader) ([]byte, error) {
	bits := make([]byte, 17)
	if _, err := io.ReadFull(random, bits); err != nil {
		return nil, err
	}
	bits[0] &= 3
	return []byte(new(big.Int).SetBytes(bits).Text(36)), nil
}
