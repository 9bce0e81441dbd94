"""Simulated seats of the desk.

``operator``, ``operator_strategies``          the Operator's day, and what becomes of strategies
``guardian``                                   checks, alerts, projections, reviews of risk
``trader``, ``trader_orders``, ``trader_reviews``  rounds, orders, reviews of feasibility
``deskfile``                                   what they read of a brief
``*.toml``                                     the sentences, as data
"""
