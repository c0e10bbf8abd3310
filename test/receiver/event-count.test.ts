import { describe, expect, test } from "vitest";
import { batchOf, delivery, faces, makeRig } from "./support.ts";

const counted = (count: string | string[]) =>
  delivery(batchOf("1", "2"), { headers: { "x-service-event-count": count } });

describe.each(faces)("X-Service-Event-Count over $name", (face) => {
  test.each([0, 1, 3, 999_999_999])(
    "%d for a body of two events is logged with both numbers, and the events are stored",
    async (announced) => {
      const { endpoints, inbox, lines } = makeRig();
      const answer = await (await face.open(endpoints))(counted(String(announced)));
      expect(answer.status).toBe(200);
      expect([...inbox.stored.keys()]).toEqual(["1", "2"]);
      expect(lines()).toMatchObject([
        { level: "warn", announced, events: 2 },
        { level: "info", status: 200 },
      ]);
    },
  );

  test.each<[string, string | string[]]>([
    ["that agrees", "2"],
    ["with zeros in front", "002"],
    ["that is empty", ""],
    ["that is no number", "two"],
    ["that is negative", "-1"],
    ["with a fraction", "1.5"],
    ["beyond what a number holds", "9".repeat(400)],
    ["that comes twice", ["1", "1"]],
  ])("a header %s is passed over", async (_name, count) => {
    const { endpoints, inbox, lines } = makeRig();
    const answer = await (await face.open(endpoints))(counted(count));
    expect(answer.status).toBe(200);
    expect(inbox.stored.size).toBe(2);
    expect(lines()).toMatchObject([{ level: "info", status: 200 }]);
  });

  test("a refused delivery logs nothing", async () => {
    const { endpoints, lines } = makeRig();
    const headers = { "x-service-event-count": "7" };
    await (await face.open(endpoints))(delivery("{", { headers }));
    expect(lines()).toMatchObject([{ level: "warn", code: "BODY_INVALID" }]);
  });
});
