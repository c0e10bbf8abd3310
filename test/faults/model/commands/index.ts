import type { Arbitrary } from "fast-check";
import type { Command } from "../trial.ts";
import { claim } from "./claim.ts";
import { endWithEffects, fire, makeDue } from "./effects.ts";
import { advance, advanceBesidePut, end, endBesidePut, extend } from "./endings.ts";
import { put, putBroken } from "./put.ts";
import { ask } from "./questions.ts";
import { begin, drop, finish, restart } from "./steps.ts";
import { heal, healStranded, pass, reopen, rest } from "./time.ts";

/** Repeated commands are chosen more often. */
export const commands: Arbitrary<Command>[] = [
  ...[put, put, put, putBroken],
  ...[claim, claim, claim, claim],
  ...[end, end, end, end, endBesidePut, extend],
  ...[advance, advance, advance, advanceBesidePut],
  ...[endWithEffects, endWithEffects, endWithEffects, fire, fire, makeDue],
  ...[begin, begin, restart, finish, finish, drop],
  ...[pass, pass, reopen, heal, healStranded, rest],
  ...[ask],
];
