import { expect } from "vitest";
import { refusalContract } from "../contract/refusal-contract.ts";
import { connectDirectly, failureIn } from "./call.ts";

refusalContract(async ({ url, token, fetch }, attempt, { code, status, retryable }) => {
  if (attempt.byTool === undefined) return;
  const apiKey = attempt.token ?? token;
  const called = await connectDirectly({ baseUrl: url, apiKey, fetch })(...attempt.byTool);
  const failure = failureIn(called);
  expect(failure).toMatchObject({ code, retryable });
  expect(failure.status).toBe(attempt.refusedBySchema ? undefined : status);
  expect(JSON.stringify(called)).not.toContain(apiKey);
});
