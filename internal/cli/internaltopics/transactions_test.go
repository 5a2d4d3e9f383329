package internaltopics

import (
	"encoding/hex"
	"testing"
)

// The bytes are what Apache Kafka's own classes wrote, but for the states.
func TestTransactionValues(t *testing.T) {
	for _, c := range []struct{ hex, want string }{
		{
			"0000" + "000000012a05f20100ca00011173" + "05" + "0000000200047337c3a900000002000111790001117a0005733132c3a9000000020001117e0001117f" + "000000012a05f210000000012a05f211",
			`{"version":"0","data":{"producerId":5000000001,"producerEpoch":202,"transactionTimeoutMs":70003,"transactionStatus":"CompleteAbort","transactionPartitions":[{"topic":"s7é","partitionIds":[70009,70010]},{"topic":"s12é","partitionIds":[70014,70015]}],"transactionLastUpdateTimestampMs":5000000016,"transactionStartTimestampMs":5000000017}}`,
		},
		{
			"0001" + "000000012a05f20100cc00011176" + "07" + "00" + "000000012a05f208000000012a05f209" + "040008000000012a05f2020108000000012a05f203020200d2030200cd",
			`{"version":"1","data":{"producerId":5000000001,"previousProducerId":5000000002,"nextProducerId":5000000003,"producerEpoch":204,"nextProducerEpoch":205,"transactionTimeoutMs":70006,"transactionStatus":"PrepareEpochFence","transactionPartitions":null,"transactionLastUpdateTimestampMs":5000000008,"transactionStartTimestampMs":5000000009,"clientTransactionVersion":210}}`,
		},
		{
			"0001" + "000000012a05f20100cc00011176" + "01" + "0306733130c3a9030001117c0001117d0006733135c3a90300011181000111820" + "0000000012a05f213000000012a05f214" + "00",
			`{"version":"1","data":{"producerId":5000000001,"producerEpoch":204,"transactionTimeoutMs":70006,"transactionStatus":"Ongoing","transactionPartitions":[{"topic":"s10é","partitionIds":[70012,70013]},{"topic":"s15é","partitionIds":[70017,70018]}],"transactionLastUpdateTimestampMs":5000000019,"transactionStartTimestampMs":5000000020}}`,
		},
		{"0001" + "000000012a05f20100cc00011176" + "08" + "00" + "000000012a05f208000000012a05f209" + "00", "Unknown transaction state id 8 from the transaction status message"},
		{"0001" + "000000012a05f20100cc00011176" + "01" + "00" + "000000012a05f208000000012a05f2", errTxnRecord.Error()},
		{"0002", "unknown value version 2"},
	} {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		got, err := TransactionValue(0, b)
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}
