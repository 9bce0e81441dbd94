"""What a deployment chooses: settings, schedules, prompts, contract templates, admins and price samples.

Data first, loaders second. What a specification fixes (matrices, tables, limits) lives in ``protocols`` instead.
"""
