// Package options reads command lines the way Kafka's own tools do, which stand
// on the Java library joptsimple, so that scripts written for them keep working:
//
//   - "--name value" and "--name=value"; the value of an option that requires
//     one is the next word, whatever it looks like ("--time -1");
//   - a name may be shortened as long as it stays unambiguous;
//   - an option may be given several times; the last value counts unless all
//     are asked for;
//   - errors have joptsimple's texts.
//
// It knows nothing of any tool. A Set is built, parsed once, and only read from
// then on.
package options
