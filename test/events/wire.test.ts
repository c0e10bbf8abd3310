import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEvents } from "../faces/events.ts";

const cut = (body: string) => readEvents(body)?.texts;

/** Returns the elements of `events` as `JSON.parse` sees them. */
function reference(body: string): unknown {
  try {
    const { events } = JSON.parse(body);
    return Array.isArray(events) ? events : undefined;
  } catch {
    return "no JSON";
  }
}

function actual(body: string): unknown {
  try {
    const { events, texts } = readEvents(body) ?? {};
    if (texts !== undefined) expect(texts.map((text) => JSON.parse(text))).toEqual(events);
    return events;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return "no JSON";
  }
}

describe("a body as the platform writes it", () => {
  test.each([
    ["no event", []],
    ["one event", [{ id: "1" }]],
    ["three events", [{ id: "1", payload: { from: {} } }, { id: "2" }, { id: "3" }]],
  ])("is cut between its events: %s", (_, events) => {
    const body = JSON.stringify({ events });
    expect(readEvents(body)).toEqual({
      events,
      texts: events.map((event) => JSON.stringify(event)),
    });
  });
});

describe("a body is not cut", () => {
  test.each([
    [
      "an event has a list of objects",
      '{"events":[{"id":"1","tags":[{"a":1},{"b":2}]},{"id":"2"}]}',
    ],
    ["a text looks like a border", '{"events":[{"id":"1","text":"},{"},{"id":"2"}]}'],
    ["there is space between the events", '{"events":[{"id":"1"}, {"id":"2"}]}'],
    ["a field comes before the events", '{"page":1,"events":[{"id":"1"}]}'],
    ["a list comes after the events", '{"events":[{"id":"1"}],"more":[]}'],
    ["there are events twice", '{"events":[{"id":"1"}],"events":[{"id":"2"}]}'],
    ["an event is no object", '{"events":[1,2]}'],
    ["an id has too many digits for a number", '{"events":[{"id":12345678901234567890}]}'],
  ])("where %s", (_, body) => {
    expect(cut(body)).toBeUndefined();
    if (!/[0-9]{16}/.test(body)) expect(actual(body)).toEqual(reference(body));
  });

  test("but its long ids keep their digits", () => {
    const body = '{"events":[{"id":12345678901234567890}]}';
    expect(readEvents(body)?.events).toEqual([{ id: "12345678901234567890" }]);
  });
});

test("a body is read as JSON.parse reads it, for any content and damage", () => {
  const parts = [
    "},{",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    '"a":',
    "1",
    " ",
    '{"events":[',
    "]}",
  ];
  const event = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.record({ id: fc.string(), text: fc.constantFrom("},{", '"},{"', "\\", "]}") }),
    fc.jsonValue(),
  );
  const damage = fc.record({
    at: fc.nat(),
    remove: fc.nat({ max: 3 }),
    part: fc.constantFrom(...parts),
  });
  fc.assert(
    fc.property(fc.array(event), fc.array(damage, { maxLength: 2 }), (events, damages) => {
      let body = JSON.stringify({ events });
      for (const { at, remove, part } of damages) {
        const place = at % body.length;
        body = body.slice(0, place) + part + body.slice(place + remove);
      }
      expect(actual(body)).toEqual(reference(body));
    }),
    { numRuns: 2_000 },
  );
});

test("a body of borders and brackets is read as JSON.parse reads it", () => {
  const parts = fc.constantFrom(
    "},{",
    "{",
    "}",
    "[",
    "]",
    ",",
    '"',
    '"a":',
    '"a":"',
    "1",
    "{}",
    '{"a":1}',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (pieces) => {
      const body = `{"events":[${pieces.join("")}]}`;
      expect(actual(body)).toEqual(reference(body));
    }),
    { numRuns: 5_000 },
  );
});
