import { type Mutant, mutantsOf } from "../mutant.ts";

const MODE = ["test/poller/mode.test.ts"];
const BOT = ["test/fallback.test.ts"];
const POLLER = ["test/poller/poller.test.ts"];

/** Polling takes over by itself, and hands back. */
export const modeMutants: readonly Mutant[] = [
  ...mutantsOf("src/poller/mode.ts", MODE, [
    {
      name: "patience with the webhook before polling",
      find: "return events.filter((event) => now > dueAt(event, silenceMs));",
      replace: "return events.filter(() => now > silenceMs);",
    },
    {
      name: "the webhook's time after a late commit was found",
      find: "Math.min(at, foundAt) + silenceMs, foundAt + UNDER_WAY_MS);",
      replace: "Math.min(at, foundAt) + silenceMs);",
    },
    {
      name: "the webhook confirms what the log showed first",
      find: "state.unconfirmed.filter(({ id }) => !ids.has(id))",
      replace: "state.unconfirmed.filter(({ id }) => id !== String(ids))",
    },
    {
      name: "learning the types from deliveries",
      find: "new Set([...state.webhookTypes, ...events.map(({ type }) => type)])",
      replace: "state.webhookTypes",
    },
    {
      name: "a type outside the subscription says nothing",
      find: "return state.webhookTypes.size === 0 || state.webhookTypes.has(event.type);",
      replace: 'return event.type !== "";',
    },
    {
      name: "every type counts while nothing came by webhook",
      find: "return state.webhookTypes.size === 0 || ",
      replace: "return ",
    },
    {
      name: "a missed type has to come again before it counts",
      find: "const left = [...state.webhookTypes].filter((type) => !missing.has(type));",
      replace: "const left = [...state.webhookTypes].filter(() => missing !== undefined);",
    },
    {
      name: "what came while the bot was away starts polling at once",
      find: "if (missed.length > 0) return toPolling",
      replace: "if (missed.length > 1e9) return toPolling",
    },
    {
      name: "what came since the start is not what came while the bot was away",
      find: "resumedAt !== undefined && at < resumedAt",
      replace: "resumedAt !== undefined && at > 0",
    },
    {
      name: "patience is bounded whatever the date of an event says",
      find: "Math.max(Math.min(at, foundAt) + silenceMs",
      replace: "Math.max(at + silenceMs",
    },
    {
      name: "the webhook must show itself before the hand-back",
      find: "if (state.deliveredAt === undefined) return { state };\n  const { deliveredAt } = state;",
      replace: "const { deliveredAt = now } = state;",
    },
    {
      name: "a repeat does not open the trial",
      find: "if (events.some(({ id }) => state.lastDelivery.has(id))) {",
      replace: "if (events.every(({ id }) => state.lastDelivery.has(id))) {",
    },
    {
      name: "a delivery without events shows nothing",
      find: 'state.mode === "auditing" || events.length === 0',
      replace: 'state.mode === "auditing"',
    },
    {
      name: "what was made while the webhook was off does not count",
      find: "return deliveredAt !== undefined && at < deliveredAt;",
      replace: "return deliveredAt !== undefined && at < 0;",
    },
    {
      name: "the hand-back keeps since when the webhook is back",
      find: 'state: { ...next, mode: "auditing", cleanRounds: 0 },',
      replace: 'state: { ...next, mode: "auditing", deliveredAt: undefined, cleanRounds: 0 },',
    },
    {
      name: "two reads before the hand-back",
      find: "const CLEAN_ROUNDS = 2;",
      replace: "const CLEAN_ROUNDS = 1;",
    },
    {
      name: "a read that failed half-way is no clean one",
      find: "const cleanRounds = partial ? state.cleanRounds : state.cleanRounds + 1;",
      replace: "const cleanRounds = partial ? state.cleanRounds + 1 : state.cleanRounds + 1;",
    },
    {
      name: "proof before the hand-back",
      find: "if (cleanRounds < CLEAN_ROUNDS || !proven) return { state: next };",
      replace: "if (cleanRounds < CLEAN_ROUNDS || now < Number(proven)) return { state: next };",
    },
    {
      name: "the proof does not wait for ever for what the webhook will not bring",
      find: "unconfirmed.length === 0 || (!doubtful && now - deliveredAt > silenceMs);",
      replace: "unconfirmed.length === 0 || (!doubtful && now - deliveredAt > 1e12);",
    },
    {
      name: "the trial ends when an event becomes overdue in it",
      find: "if (late.length > 0) return { state: startPolling(without(state, late)) };",
      replace: "if (late.length > 1e9) return { state: startPolling(without(state, late)) };",
    },
    {
      name: "a bound on what is remembered",
      find: "[...state.unconfirmed, ...awaited].slice(-MAX_UNCONFIRMED)",
      replace: "[...state.unconfirmed, ...awaited]",
    },
    {
      name: "looking up when an event becomes overdue",
      find: "dueAt(event, silenceMs)));",
      replace: "dueAt(event, silenceMs * 2)));",
    },
  ]),
  ...mutantsOf("src/bot/assemble.ts", BOT, [
    {
      name: "a bot's poller goes by the platform's clock",
      find: "platformNow: () => client.platformNow() ?? clock.now(),",
      replace: "platformNow: () => clock.now(),",
    },
    {
      name: "a bot's poller knows the types from before its start",
      find: "webhookTypes: await inbox.webhookTypes(),",
      replace: "webhookTypes: new Set(),",
    },
  ]),
  ...mutantsOf("src/poller/poller.ts", POLLER, [
    {
      name: "what the webhook brings during a read is not missing",
      find: "for (const { id } of events) this.#broughtMeanwhile?.add(id);",
      replace: "",
    },
    {
      name: "findings before a page that fails are told",
      find: "if (!signal.aborted && tells && (!partial || found.length > 0)) {",
      replace: "if (!signal.aborted && !partial) {",
    },
    {
      name: "looking up overdue events between two rounds",
      find: 'this.#observe({ kind: "tick", now: platformNow() });',
      replace: "",
    },
    {
      name: "the audits between the polls",
      find: "const audit = due || ",
      replace: "const audit = ",
    },
    {
      name: "polling every few seconds",
      find: "isPolling ? pollIntervalMs : auditIntervalMs",
      replace: "auditIntervalMs",
    },
    {
      name: "audits only while the webhook is well",
      find: "isPolling ? pollIntervalMs : auditIntervalMs",
      replace: "pollIntervalMs",
    },
    {
      name: "DELIVERY=polling never switches",
      find: 'if (delivery === "polling" || this.#peers.delivered(events)) return;',
      replace: "if (this.#peers.delivered(events)) return;",
    },
    {
      name: "the first round after a start is told apart",
      find: "await this.#round(resumed ? started : undefined);",
      replace: "await this.#round(resumed ? -1 : undefined);",
    },
    {
      name: "an onSwitch that fails is nobody's end",
      find: '.catch((err: unknown) => log.error({ err }, "the onSwitch option failed"));',
      replace: "",
    },
    {
      name: "a log without end is not hurried",
      find: 'this.mode === "polling" && this.#reader.atEnd;',
      replace: 'this.mode === "polling";',
    },
  ]),
  ...mutantsOf("src/poller/health.ts", POLLER, [
    {
      name: "Retry-After",
      find: "Math.max(asked, pollIntervalMs, backoff(policy, this.#failures, random))",
      replace: "Math.max(asked * 0, pollIntervalMs, backoff(policy, this.#failures, random))",
    },
    {
      name: "backoff when the log cannot be read",
      find: "Math.max(asked, pollIntervalMs, backoff(policy, this.#failures, random))",
      replace: "Math.max(asked, pollIntervalMs, 0 * backoff(policy, this.#failures, random))",
    },
    {
      name: "a missing scope is tried again slowly",
      find: "return MAX_PAUSE_MS;",
      replace: "return 1_000;",
    },
    {
      name: "a missing scope is told once",
      find: "const isNews = this.#told !== failure;",
      replace: "const isNews = failure !== undefined;",
    },
  ]),
];
