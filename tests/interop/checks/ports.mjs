// A port of one's own on loopback, and waiting: what every check that starts a service needs.
import { execFileSync } from 'node:child_process';

// FREE_PORT names tests/free_port, which this may be a copy away from.
export const freePort = () => Number(execFileSync(process.env.FREE_PORT));

export const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
