/** One mechanism taken out, and the tests that must not stand for it. */
export interface Mutant {
  /** What is taken out. */
  readonly name: string;
  /** The file it is taken out of, from the root. */
  readonly file: string;
  /** The text that is replaced. It must be in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The test files that are run: the small ones that are concerned. */
  readonly tests: readonly string[];
}

/** What came of one. */
export type Verdict =
  | { readonly kind: "caught"; readonly by: string }
  | { readonly kind: "survived" }
  /** The source has changed, and the mutant no longer fits it. */
  | { readonly kind: "out of date"; readonly found: number };

/** The mutants of one file, all run against the same tests. */
export function mutantsOf(
  file: string,
  tests: readonly string[],
  list: readonly Omit<Mutant, "file" | "tests">[],
): Mutant[] {
  return list.map((mutant) => ({ file, tests, ...mutant }));
}
