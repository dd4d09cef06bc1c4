#!/usr/bin/env node
import './operations/commands/cli.ts'
