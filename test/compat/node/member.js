// A member of a consumer group by kafkajs: commands in, events out, as JSON lines.
const readline = require('readline')
const { Kafka, logLevel } = require('kafkajs')

let consumer, topic, next, owned

const event = (name, fields) => console.log(JSON.stringify({ event: name, ...fields }))
const failed = (e) => event('error', { text: String(e) })
const at = (c) => [{ topic, partitions: [c.partition] }]

async function join(c) {
  topic = c.topic
  next = new Map()
  owned = []
  consumer = new Kafka({ brokers: [c.bootstrap], logLevel: logLevel.NOTHING }).consumer({
    groupId: c.group,
    sessionTimeout: c.session_ms,
    rebalanceTimeout: 30000,
    heartbeatInterval: 400,
    maxWaitTimeInMs: 200,
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    owned = payload.memberAssignment[topic] || []
    event('owns', { partitions: [...owned].sort((a, b) => a - b), generation: -1 })
  })
  consumer.on(consumer.events.REBALANCING, () => {
    event('revoked', { partitions: owned })
    owned = []
    next = new Map()
    event('owns', { partitions: [], generation: -1 })
  })
  // While the only broker is away the search for a coordinator is an error that kafkajs
  // does not try again: the application has to begin anew.
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (payload.restart || payload.error.message !== 'Failed to find group coordinator') return failed(payload.error)
    setTimeout(() => join(c).catch(failed), 200)
  })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: c.reset === 'earliest' })
  await consumer.run({
    autoCommit: c.auto_ms > 0,
    autoCommitInterval: c.auto_ms > 0 ? c.auto_ms : undefined,
    eachMessage: async ({ partition, message }) => {
      next.set(partition, Number(message.offset) + 1)
      event('record', { partition, offset: Number(message.offset), value: message.value.toString() })
    },
  })
}

async function commit(c) {
  const offsets = [...next].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }))
  const done = consumer.commitOffsets(offsets).then(() => event('committed'))
  if (c.async) done.catch(failed)
  else await done
}

const commands = {
  join,
  commit,
  pause: (c) => (consumer.pause(at(c)), event('paused')),
  resume: (c) => (consumer.resume(at(c)), event('resumed')),
  seek: (c) => (consumer.seek({ topic, partition: c.partition, offset: String(c.offset) }), event('sought')),
  position: () => event('position', { offsets: Object.fromEntries(next) }),
  leave: async () => {
    await consumer.disconnect()
    event('left')
  },
}

let last = Promise.resolve()
event('ready')
readline
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const c = JSON.parse(line)
    last = last.then(() => commands[c.do](c)).catch(failed)
  })
  .on('close', () => process.exit(0))
