import { Router } from "express";
import {
  MAX_REPORTED_RUNS,
  type ReportedError,
  type RunReport,
  reportedOutcomes,
} from "../../core/run-report.ts";
import * as z from "../../core/zod.ts";
import { authenticate } from "../api/auth.ts";
import { bodyOf, mount } from "../control/endpoint.ts";
import type { Store } from "../store/store.ts";
import type { RunReports } from "./run-reports.ts";

/** Longest text of a report, in characters. */
const MAX_LENGTH = 10_000;

const text = z.string().max(MAX_LENGTH);
const span = z.number().min(0);

const reportedError: z.ZodType<ReportedError> = z.object({
  type: text,
  code: text.optional(),
  message: text,
  stack: text.optional(),
});

const runReport: z.ZodType<RunReport> = z.object({
  eventId: z.string(),
  attempt: z.number().int().min(1),
  outcome: z.enum(reportedOutcomes),
  ms: span,
  retryInMs: span.optional(),
  error: reportedError.optional(),
});

const runsBody: z.ZodType<{ runs: RunReport[] }> = z.object({
  runs: z.array(runReport).max(MAX_REPORTED_RUNS),
});

/** Takes reports of runs from bots, which send them with their API key. */
export function runsRouter(store: Pick<Store, "tokens" | "people">, reports: RunReports): Router {
  const router = Router({ caseSensitive: true, strict: true });
  mount(router, {
    "/": {
      postStatus: 200,
      post: async (request) => {
        const { bot } = authenticate(store.tokens, request.headers.authorization);
        const { runs } = await bodyOf(request, runsBody);
        return { accepted: reports.accept(store.people.get(bot), runs) };
      },
    },
  });
  return router;
}
