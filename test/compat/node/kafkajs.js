// Writes the records of the compatibility tests with kafkajs.
const { Kafka, logLevel } = require('kafkajs')

const PARTITIONS = 3
const CHUNK = 5000

function value(i) {
  const head = `value-${i}-`
  return head + String.fromCharCode(97 + (i % 26)).repeat(100 - head.length)
}

async function produce(bootstrap, topic, n) {
  const producer = new Kafka({ brokers: [bootstrap], logLevel: logLevel.ERROR }).producer()
  await producer.connect()
  for (let from = 0; from < n; from += CHUNK) {
    const messages = []
    for (let i = from; i < Math.min(n, from + CHUNK); i++) {
      messages.push({ key: `key-${i}`, value: value(i), partition: i % PARTITIONS })
    }
    await producer.send({ topic, messages, acks: -1 })
  }
  await producer.disconnect()
}

const [verb, bootstrap, topic, n] = process.argv.slice(2)
if (verb !== 'produce') throw new Error('only produce')
produce(bootstrap, topic, Number(n)).catch((e) => {
  console.error(e)
  process.exit(1)
})
