import { expect, test } from "vitest";
import { documentedBlock } from "../docs/markdown.ts";
import { toFetch } from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import { ManualClock } from "../faces/testing.ts";
import { batchOf, makeRig, now } from "./support.ts";

const HOUR = 3_600_000;
const secrets = ["whsec_the_newest", "whsec_the_older", "whsec_the_oldest"];
const [newest, older, oldest] = secrets as [string, string, string];

function makeRotation(clock = new ManualClock(now * 1000)) {
  const rig = makeRig({ secrets, clock });
  const deliver = async (secret: string, body = batchOf("1")) => {
    const signature = sign(body, secret, clock.now() / 1000);
    const headers = { "x-service-signature": signature };
    const request = new Request("http://bot.test/webhook", { method: "POST", body, headers });
    return await toFetch(rig.endpoints)(request);
  };
  const told = () => rig.lines().filter(({ configured }) => configured !== undefined);
  return { ...rig, clock, deliver, told };
}

test("the newest secret is not logged", async () => {
  const { deliver, told } = makeRotation();
  expect((await deliver(newest)).status).toBe(200);
  expect(told()).toEqual([]);
});

test("the line of docs/deploy/overview.md is the one that is logged", async () => {
  const { deliver, told } = makeRotation();
  await deliver(older);
  const documented = JSON.parse(documentedBlock("docs/deploy/overview.md", "old-secret"));
  const expected = { ...documented, configured: secrets.length, time: expect.anything() };
  expect(told()).toEqual([expected]);
});

test("the first delivery with an old secret is logged, with its number and never the secret", async () => {
  const { deliver, told, log } = makeRotation();
  expect((await deliver(older)).status).toBe(200);
  expect(told()).toMatchObject([{ level: "info", number: 2, configured: 3 }]);
  for (const secret of secrets) expect(log.join("")).not.toContain(secret);
});

test("further deliveries are logged at most once an hour, also with newer ones between", async () => {
  const { deliver, told, clock } = makeRotation();
  for (let minute = 0; minute < 180; minute++) {
    await deliver(minute % 3 === 0 ? newest : older);
    await clock.advance(60_000);
  }
  expect(told()).toHaveLength(3);
});

test("an old secret that returns after an hour is logged at once", async () => {
  const { deliver, told, clock } = makeRotation();
  await deliver(older);
  await clock.advance(HOUR - 1);
  await deliver(older);
  expect(told()).toHaveLength(1);
  await clock.advance(1);
  await deliver(older);
  expect(told()).toHaveLength(2);
});

test("each old secret is logged separately", async () => {
  const { deliver, told } = makeRotation();
  for (const secret of [oldest, older, oldest, older]) await deliver(secret);
  expect(told()).toMatchObject([{ number: 3 }, { number: 2 }]);
});

test("a clock that is set back does not keep it quiet", async () => {
  let time = now * 1000;
  const clock = Object.assign(new ManualClock(), { now: () => time });
  const { deliver, told } = makeRotation(clock);
  await deliver(older);
  time -= 24 * HOUR;
  await deliver(older);
  expect(told()).toHaveLength(2);
});

test("a signed delivery counts also when its body is refused, an unsigned one never", async () => {
  const { deliver, told } = makeRotation();
  expect((await deliver("whsec_somebody_else")).status).toBe(401);
  expect(told()).toEqual([]);
  expect((await deliver(older, "{")).status).toBe(400);
  expect(told()).toHaveLength(1);
});
