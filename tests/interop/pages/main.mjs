// The checks that are named, or all, in this order. `pictures` checks nothing: it makes the pictures of the README.
import { runAll } from '../checks/suite.mjs';

const ALL = ['markup', 'accessibility', 'walk', 'views', 'lighthouse'];
const KNOWN = [...ALL, 'pictures'];
const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : ALL) {
  if (!KNOWN.includes(name)) throw new Error(`there are no checks named ${name}: ${KNOWN.join(', ')}`);
  await import(`./${name}.mjs`);
}
process.exit((await runAll()) === 0 ? 0 : 1);
