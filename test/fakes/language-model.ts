export { ScriptedModel } from '../../src/testing/scripted-model.ts'
