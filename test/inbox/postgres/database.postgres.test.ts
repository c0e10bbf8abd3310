import { expect, test } from "vitest";
import { Database, type Driver, loadDriver, type Pool, query } from "../../faces/inbox-postgres.ts";
import { hold } from "../../support/postgres/hold.ts";
import { emptyPlace, through } from "../../support/postgres/open.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

function failing(code: string, times = Number.POSITIVE_INFINITY) {
  const dropped: (boolean | undefined)[] = [];
  let left = times;
  const connection = {
    query: () => {
      left -= 1;
      if (left < 0) return Promise.resolve({ rows: [{ n: "1" }] });
      return Promise.reject(Object.assign(new Error("no"), { code }));
    },
    on: () => undefined,
    off: () => undefined,
    release: (broken?: boolean) => void dropped.push(broken),
  };
  class OnePool implements Pool {
    connect() {
      return Promise.resolve(connection);
    }
    on() {}
    end() {
      return Promise.resolve();
    }
  }
  class NoClient {
    constructor() {
      throw new Error("nobody listens here");
    }
  }
  const types: Driver["types"] = { getTypeParser: () => (text) => text };
  const driver = { Pool: OnePool, Client: NoClient as never, types };
  return {
    dropped,
    database: new Database({ driver, url: "postgres://db.example/x", schema: "s" }),
  };
}

test.each(["57P01", "57P03", "08P01", "08006", "ECONNRESET", ""])(
  "a connection is not used again after %j: it is gone, or its pooler's is",
  async (code) => {
    const { database, dropped } = failing(code);
    await expect(database.rows("SELECT 1")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(dropped).toEqual([true]);
  },
);

test.each(["23505", "40P01", "53100"])("a connection is used again after %j", async (code) => {
  const { database, dropped } = failing(code);
  await expect(database.rows("SELECT 1")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(dropped).toEqual([false]);
});

test("a transaction begins anew that the server ended because it and another one waited for each other", async () => {
  const { database, dropped } = failing("40P01", 1);
  const worked: number[] = [];
  const result = await database.run(function* () {
    worked.push(worked.length);
    yield* query("SELECT 1");
    return "done";
  });
  expect(result).toBe("done");
  expect(dropped).toEqual([false]);
});

test("a statement is tried again that the server ended because it and another one waited for each other", async () => {
  const { database, dropped } = failing("40P01", 2);
  expect(await database.rows("SELECT 1")).toEqual([{ n: "1" }]);
  expect(dropped).toEqual([false]);
});

test("a statement with a limit of its own waits no longer, and needs none of the connections there were", async () => {
  const place = await emptyPlace();
  const proxy = await TcpProxy.to(Number(new URL(place.url).port));
  const driver = await loadDriver();
  const database = new Database({ ...through(place, proxy), driver, timeoutMs: 600_000 });
  await database.close();
  expect(await database.rowsWithin(2_000, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
  const key = 20_252;
  await hold(place, `SELECT pg_advisory_xact_lock(${key})`);
  const away = { code: "STORE_UNAVAILABLE" };
  const waits = database.rowsWithin(500, `SELECT pg_advisory_xact_lock(${key})`);
  await expect(waits).rejects.toMatchObject(away);
  proxy.freeze();
  await expect(database.rowsWithin(500, "SELECT 1")).rejects.toMatchObject(away);
});

test("after the time limit, pending and later statements fail, and all connections are closed", async () => {
  const place = await emptyPlace();
  const proxy = await TcpProxy.to(Number(new URL(place.url).port));
  const driver = await loadDriver();
  const deadline = new AbortController();
  const limits = { timeoutMs: 600_000, connections: 1, deadline: deadline.signal };
  const database = new Database({ ...through(place, proxy), ...limits, driver });
  expect(await database.rows("SELECT 1 AS n")).toEqual([{ n: 1 }]);
  proxy.freeze();
  // The second statement waits for the first statement's connection. The third opens its own.
  const under = [
    database.rows("SELECT 1"),
    database.run(() => query("SELECT 1")),
    database.rowsWithin(600_000, "SELECT 1"),
  ];
  const failed = Promise.allSettled(under);
  while (proxy.made < 2) await new Promise((resolve) => setImmediate(resolve));
  deadline.abort();
  const away = { status: "rejected", reason: { code: "STORE_UNAVAILABLE" } };
  expect(await failed).toMatchObject([away, away, away]);
  const later = [database.rows("SELECT 1"), database.rowsWithin(600_000, "SELECT 1")];
  expect(await Promise.allSettled(later)).toMatchObject([away, away]);
  await database.close();
});
