/** What the bot under test loads, and nothing else: the part of its start that is Node's. */
import "../../../src/index.ts";
import "./failpoints.ts";
