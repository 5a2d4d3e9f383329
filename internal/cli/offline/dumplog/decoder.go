package dumplog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"barnabas/internal/cli/internaltopics"
	"barnabas/internal/cli/options"
	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// decoder gives the texts of a record's key and value; nil is not printed.
type decoder func(r *record.Record) (key, value *string, err error)

// newDecoder returns what the options ask for.
func newDecoder(set *options.Set) (decoder, error) {
	switch {
	case set.Has("offsets-decoder"):
		return coordinatorRecord(internaltopics.GroupKey, groupValue), nil
	case set.Has("transaction-log-decoder"):
		return coordinatorRecord(internaltopics.TransactionKey, internaltopics.TransactionValue), nil
	case set.Has("cluster-metadata-decoder"):
		return metadataRecord, nil
	}
	key, err := classDecoder(set.Get("key-decoder-class"))
	if err != nil {
		return nil, err
	}
	value, err := classDecoder(set.Get("value-decoder-class"))
	if err != nil {
		return nil, err
	}
	return func(r *record.Record) (k, v *string, err error) {
		if k, err = key(r.Key); err != nil {
			return nil, nil, err
		}
		v, err = value(r.Value)
		return k, v, err
	}, nil
}

// classDecoder stands for a class that implements Apache's Decoder.
func classDecoder(class string) (func([]byte) (*string, error), error) {
	switch class {
	case "", stringDecoder:
		return func(b []byte) (*string, error) { return notNull(b, text(b)), nil }, nil
	case decoders + "IntegerDecoder":
		return func(b []byte) (*string, error) {
			if b != nil && len(b) != 4 {
				return nil, &exception{"org.apache.kafka.common.errors.SerializationException", "Size of data received by IntegerDeserializer is not 4"}
			}
			return numberText(b), nil
		}, nil
	case decoders + "LongDecoder":
		return func(b []byte) (*string, error) {
			if b != nil && len(b) != 8 {
				return nil, &exception{"org.apache.kafka.common.errors.SerializationException", "Size of data received by LongDeserializer is not 8"}
			}
			return numberText(b), nil
		}, nil
	}
	return nil, &exception{"java.lang.RuntimeException", "Failed to load decoder class " + class + ": there are " + decoders + "StringDecoder, IntegerDecoder and LongDecoder"}
}

func notNull(b []byte, s string) *string {
	if b == nil {
		return nil
	}
	return &s
}

// numberText is the number that four or eight bytes are.
func numberText(b []byte) *string {
	var n int64
	switch len(b) {
	case 4:
		n = int64(int32(binary.BigEndian.Uint32(b)))
	case 8:
		n = int64(binary.BigEndian.Uint64(b))
	}
	return notNull(b, strconv.FormatInt(n, 10))
}

// metadataRecord decodes a record of __cluster_metadata. They have no keys.
func metadataRecord(r *record.Record) (key, value *string, err error) {
	m, version, err := metarec.Decode(r.Value)
	if err != nil {
		s := fmt.Sprintf("Error at %d, skipping. %s", r.Offset, err)
		return nil, &s, nil
	}
	s := string(metarec.AppendJSON(nil, m, version))
	return nil, &s, nil
}

// coordinatorRecord decodes records whose key names the type. key returns the
// type with the key's JSON, value the value's JSON.
func coordinatorRecord(key func([]byte) (int16, []byte, error), value func(t int16, b []byte) ([]byte, error)) decoder {
	return func(r *record.Record) (*string, *string, error) {
		if r.Key == nil {
			return nil, nil, &exception{"java.lang.RuntimeException", fmt.Sprintf("Failed to decode message at offset %d using the specified decoder (message had a missing key)", r.Offset)}
		}
		t, keyJSON, err := key(r.Key)
		valueJSON := []byte("<DELETE>")
		if err == nil && r.Value != nil {
			valueJSON, err = value(t, r.Value)
		}
		var unknown internaltopics.UnknownTypeError
		switch {
		case errors.As(err, &unknown):
			s := fmt.Sprintf("Unknown record type %d at offset %d, skipping.", int16(unknown), r.Offset)
			return &s, nil, nil
		case err != nil:
			s := fmt.Sprintf("Error at offset %d, skipping. %s", r.Offset, err)
			return &s, nil, nil
		}
		k, v := string(keyJSON), string(valueJSON)
		return &k, &v, nil
	}
}

// groupValue is the value's JSON with what clients put into it decoded.
func groupValue(t int16, b []byte) ([]byte, error) {
	m, version, err := grouprec.DecodeValue(grouprec.RecordType(t), b)
	if err != nil {
		return nil, err
	}
	plain := grouprec.AppendValueJSON(nil, m, version)
	if g, ok := m.(*grouprec.GroupMetadataValue); ok {
		return groupMetadata(plain, g)
	}
	return plain, nil
}
