// The checks that are named, or all, in this order.
import { runAll } from '../checks/suite.mjs';

const ALL = ['markup', 'accessibility', 'walk', 'lighthouse'];
const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : ALL) {
  if (!ALL.includes(name)) throw new Error(`there are no checks named ${name}: ${ALL.join(', ')}`);
  await import(`./${name}.mjs`);
}
process.exit((await runAll()) === 0 ? 0 : 1);
