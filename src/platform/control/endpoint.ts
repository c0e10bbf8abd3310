import type { Request, RequestHandler, Response, Router } from "express";
import type * as z from "../../core/zod.ts";
import { PlatformError } from "../error.ts";
import { send } from "../http/answer.ts";
import { type BodyLimit, readJson, validate } from "../http/body.ts";
import { text } from "../http/query.ts";

type Handler = (request: Request, response: Response) => unknown;

/** What one path of the control API does, by method. What a handler returns is the body of the answer. */
export interface Endpoint {
  readonly get?: Handler;
  readonly put?: Handler;
  readonly post?: Handler;
  readonly delete?: Handler;
  /** The status of a POST that went well. Default 201. */
  readonly postStatus?: 200 | 201;
}

export type Endpoints = Readonly<Record<string, Endpoint>>;

/** Mounts endpoints by their path. Other methods are answered with 405. */
export function mount(router: Router, endpoints: Endpoints): void {
  for (const [path, { postStatus = 201, ...methods }] of Object.entries(endpoints)) {
    if (methods.get !== undefined) router.get(path, answering(200, methods.get));
    if (methods.put !== undefined) router.put(path, answering(200, methods.put));
    if (methods.post !== undefined) router.post(path, answering(postStatus, methods.post));
    if (methods.delete !== undefined) router.delete(path, answering(200, methods.delete));
    router.all(path, wrongMethod(Object.keys(methods)));
  }
}

/** `bot` of the query: the username of the bot whose app is meant; absent for the first one. */
export function botIn(request: Request): string | undefined {
  return text(request.query, "bot");
}

/** @throws {PlatformError} 400 VALIDATION */
export async function bodyOf<T>(
  request: Request,
  schema: z.ZodType<T>,
  limit?: BodyLimit,
): Promise<T> {
  return validate(schema, await readJson(request, limit));
}

/**
 * The same of a request that may come without a body: that stands for an empty object.
 *
 * @throws {PlatformError} 400 VALIDATION
 */
export async function optionalBodyOf<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  return validate(schema, (await readJson(request)) ?? {});
}

function answering(status: number, handler: Handler): RequestHandler {
  return async (request, response) => {
    send(response, { status, body: await handler(request, response) });
  };
}

function wrongMethod(methods: readonly string[]): RequestHandler {
  const allow = methods.join(", ").toUpperCase();
  return (request) => {
    const message = `${request.path} takes ${allow} only.`;
    throw new PlatformError(405, "METHOD_NOT_ALLOWED", message, { Allow: allow });
  };
}
