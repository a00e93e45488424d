// A port of one's own on loopback, and waiting: what every check that starts a service needs.
import { once } from 'node:events';
import net from 'node:net';

export async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

export const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
