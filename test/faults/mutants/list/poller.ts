import { type Mutant, mutantsOf } from "../mutant.ts";

const TESTS = [
  "test/poller/log-reader.test.ts",
  "test/poller/late-commits.test.ts",
  "test/poller/interrupted.test.ts",
];

/** Interrupted anywhere, the reader of the log resumes without loss. */
export const pollerMutants: readonly Mutant[] = mutantsOf("src/poller/log-reader.ts", TESTS, [
  {
    name: "resuming from the stored cursor",
    find: "let position = await inbox.cursor(CURSOR);",
    replace: "let position = undefined;",
  },
  {
    name: "asking for the present at the first start",
    find: 'client.events({ since: "" }, ',
    replace: "client.events({}, ",
  },
  {
    name: "storing the place of the first start",
    find: "await this.#put([], position);",
    replace: "",
  },
  {
    name: "the beginning of a log that was empty",
    find: 'this.#cursor = position === "" ? undefined : position;',
    replace: "this.#cursor = position;",
  },
  {
    name: "not sending an empty cursor back",
    find: 'page.cursor === "" ? since : page.cursor',
    replace: "page.cursor",
  },
  {
    name: "pages of 50",
    find: "{ since, limit: PAGE_LIMIT }",
    replace: "{ since }",
  },
  {
    name: "giving up a request at a stop",
    find: "limit: PAGE_LIMIT }, { signal, ",
    replace: "limit: PAGE_LIMIT }, { ",
  },
  {
    name: "fetching the next page while this one is stored",
    find: "if (!isLast) fetching = this.#fetch(next, signal);",
    replace: "if (!isLast) fetching = Promise.resolve(await this.#fetch(next, signal));",
  },
  {
    name: "storing a page before the next one is there",
    find: "found.push(...(await this.#store(page, settled && !isDone ? next : undefined)));",
    replace:
      "await fetching;\n      found.push(...(await this.#store(page, settled && !isDone ? next : undefined)));",
  },
  {
    name: "not minding a page that nobody waits for",
    find: "fetching.catch(() => undefined);",
    replace: "",
  },
  {
    name: "telling what was found before a page that fails",
    find: "found.push(...(await this.#store(page, settled && !isDone ? next : undefined)));",
    replace:
      "const kept = await this.#store(page, settled && !isDone ? next : undefined);\n" +
      "      await fetching;\n      found.push(...kept);",
  },
  {
    name: "the limit of pages without events",
    find: "const isLast = this.#atEnd || empty > MAX_EMPTY_PAGES;",
    replace: "const isLast = this.#atEnd;",
  },
  {
    name: "counting only pages without events",
    find: "page.events.length === 0 ? empty + 1 : 0",
    replace: "empty + 1",
  },
  {
    name: "knowing the end of the log by a cursor that stands still",
    find: "this.#atEnd = next === since;",
    replace: "this.#atEnd = next === since || page.events.length === 0;",
  },
  {
    name: "the cursor in the write of its events",
    find: 'const put = await inbox.put(batch, "poll", moves, trace);',
    replace:
      'if (moves.length > 0) await inbox.put([], "poll", moves);\n' +
      '    const put = await inbox.put(batch, "poll", [], trace);',
  },
  {
    name: "the cursor of a page that is stored, not of the next one",
    find: "found.push(...(await this.#store(page, settled && !isDone ? next : undefined)));",
    replace:
      "const ahead = isLast ? undefined : await fetching;\n" +
      "      found.push(...(await this.#store(page, settled && !isDone ? (ahead?.cursor ?? next) : undefined)));",
  },
  {
    name: "continuing from the cursor that was stored",
    find: "this.#cursor = position;\n      this.#refused",
    replace: "this.#refused",
  },
  {
    name: "continuing from the head",
    find: "this.#head = since;",
    replace: "",
  },
  {
    name: "writing nothing where there is nothing",
    find: "if (batch.length === 0 && !isNew) return [];",
    replace: "",
  },
  {
    name: "a cursor behind all that is younger than a minute",
    find: "if (dates.some(([, at]) => now - at < SETTLED_AFTER_MS)) return false;",
    replace: "",
  },
  {
    name: "a cursor behind the first page that is not settled",
    find: "settled &&= next !== undefined",
    replace: "settled = next !== undefined",
  },
  {
    name: "a cursor that reads from the head do not move",
    find: 'let settled = from === "cursor" || since === undefined;',
    replace: "let settled = true;",
  },
  {
    name: "a cursor not ahead of what the token can read",
    find: "if (cursor === this.#cursor || cursor === dates.at(-1)?.[0]) return true;",
    replace: "if (cursor !== undefined) return true;",
  },
  {
    name: "trusting such a cursor after a minute",
    find: "return now - first > SETTLED_AFTER_MS;",
    replace: "return false;",
  },
  {
    name: "the time of the page",
    find: "return date ?? this.#options.platformNow();",
    replace: "return this.#options.platformNow();",
  },
  {
    name: "remembering since when an event without a good date is there",
    find: "      this.#dates.forgetPassed();\n",
    replace: "      this.#dates.forgetPassed();\n      this.#dates.forgetPassed();\n",
  },
  {
    name: "beginning again where a position is refused",
    find: "if (since === undefined || !mayRefusePosition(error)) throw error;",
    replace: "throw error;",
  },
  {
    name: "blaming the position only where a read without it succeeds",
    find: "      const page = await this.#fetch(undefined, signal);\n",
    replace:
      "      this.#cursor = undefined;\n      const page = await this.#fetch(undefined, signal);\n",
  },
  {
    name: "leaving out what a refused position had passed",
    find: "unusable !== undefined || !this.#refused.leavesOut(id)",
    replace: "true",
  },
  {
    name: "a cursor that does not go back behind a refused position",
    find: "settled && !isDone ? next : undefined",
    replace: "settled ? next : undefined",
  },
  {
    name: "not looking for a refused position again and again",
    find: "if (settled && isDone) this.#cursor = next;",
    replace: "",
  },
]).map((mutant) => ({ ...mutant, name: `${mutant.name} (log reader)` }));
