import type { Request, Response } from "express";
import type { z } from "zod";
import { readJson, validate } from "../http/body.ts";
import { text } from "../http/query.ts";

export type Handler = (request: Request, response: Response) => unknown;

/** What a path of the control API takes. A handler returns the body of the answer. */
export type Endpoint = Readonly<Partial<Record<"get" | "put" | "post" | "delete", Handler>>>;

/** Paths below /control/v1. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

/** `bot` of the query: the username of the bot whose app is meant; absent for the first one. */
export function botIn(request: Request): string | undefined {
  return text(request.query, "bot");
}

/** @throws {PlatformError} 400 VALIDATION */
export async function bodyOf<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  return validate(schema, await readJson(request));
}
