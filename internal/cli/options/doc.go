// Package options reads command lines the way Kafka's own tools do, which stand
// on the Java library joptsimple, so that scripts written for them keep working:
//
//   - "--name value" and "--name=value"; the value of an option that requires
//     one is the next word, whatever it looks like ("--time -1");
//   - names are whole, as Kafka's tools have it, and may stand behind one dash;
//   - a second value is an error unless the option may have many;
//   - words that belong to no option are passed over;
//   - errors have joptsimple's texts, and the names of its exceptions.
//
// It knows nothing of any tool. A Set is built, parsed once, and only read from
// then on.
package options
