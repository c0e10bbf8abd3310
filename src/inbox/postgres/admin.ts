import type { InboxAdmin } from "../admin.ts";
import { Administration } from "../administration.ts";
import { Catalogue } from "./catalogue.ts";
import type { Database } from "./database.ts";
import { Decisions } from "./decisions.ts";
import { Reports } from "./reports.ts";

/**
 * The administration of an inbox in PostgreSQL: of a bot's own, or of one that others use.
 *
 * @param changed told after decisions, with the number of events by which the backlog has grown
 */
export function postgresAdmin(database: Database, changed: (pending: number) => void): InboxAdmin {
  const catalogue = new Catalogue(database);
  const decisions = new Decisions(database);
  const reports = new Reports(database);
  return new Administration({
    list: (options) => catalogue.list(options),
    show: (id) => catalogue.show(id),
    targets: (state, filter) => decisions.targets(state, filter),
    retry: (ids, assume) => decisions.retry(ids, assume),
    discard: (ids, reason) => decisions.discard(ids, reason),
    report: () => reports.report(),
    changed,
  });
}
